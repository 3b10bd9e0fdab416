import { z } from "zod";
import { timeKindOf } from "./setting-types.ts";

/** Path of a setting; `anyItem` stands for each item of a list. */
export type Setting = { readonly path: readonly string[]; readonly type: z.core.$ZodType };

const anyItem = "*";

/** Every single setting of a schema. */
export function settingsIn(schema: z.core.$ZodType, path: readonly string[] = []): readonly Setting[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, part]) => settingsIn(part, [...path, name]));
  }
  if (schema instanceof z.ZodArray) return settingsIn(schema.def.element, [...path, anyItem]);
  const inner = innerOf(schema);
  return inner === undefined ? [{ path, type: schema }] : settingsIn(inner, path);
}

/** The schema inside a default, an optional or a transformation. */
function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodPipe) return schema.def.in;
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional
  ) {
    return schema.def.innerType;
  }
  return undefined;
}

/**
 * Divides every waiting time of a stage's settings by one factor, so that days pass in minutes. A result can be a
 * fraction. See docs/adr/0009.
 */
export function scaleDurations<Settings>(settings: Settings, schema: z.core.$ZodType, by: number): Settings {
  const divided = structuredClone(settings);
  for (const { path, type } of settingsIn(schema)) {
    if (timeKindOf(type) === "waiting") divideAt(divided, path, by);
  }
  return divided;
}

function divideAt(holder: unknown, [name = "", ...rest]: readonly string[], by: number): void {
  if (typeof holder !== "object" || holder === null) return;
  for (const key of name === anyItem ? Object.keys(holder) : [name]) {
    const held: unknown = Reflect.get(holder, key);
    if (rest.length === 0 && typeof held === "number") Reflect.set(holder, key, held / by);
    else divideAt(held, rest, by);
  }
}
