import { isFields } from "../../../domain/core/parse.ts";

/** A setting that is deployed otherwise than a file says; absent: it is not there. */
export type SettingsDifference = {
  /** `provider.requestsPerMinute`, `subscribers[0].types` */
  readonly setting: string;
  readonly deployed?: string;
  readonly file?: string;
};

/** Compares settings one by one, defaults included, in the order of their names. */
export function settingsDifferences(deployed: unknown, file: unknown): readonly SettingsDifference[] {
  const [before, after] = [leavesOf(deployed), leavesOf(file)];
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((setting) => {
    const [was, is] = [before.get(setting), after.get(setting)];
    if (was === is) return [];
    return [{ setting, ...(was !== undefined && { deployed: was }), ...(is !== undefined && { file: is }) }];
  });
}

/** Each value as JSON, by its name; a list of plain values is one. */
function leavesOf(value: unknown, name = ""): ReadonlyMap<string, string> {
  const inner = innerOf(value, name);
  if (inner.length === 0) return new Map(value === undefined ? [] : [[name, JSON.stringify(value)]]);
  return new Map(inner.flatMap(([innerName, each]) => [...leavesOf(each, innerName)]));
}

function innerOf(value: unknown, name: string): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.some(isFields) ? list.map((each, index) => [`${name}[${index}]`, each] as const) : [];
  }
  if (!isFields(value)) return [];
  return Object.entries(value).map(([key, each]) => [name === "" ? key : `${name}.${key}`, each] as const);
}
