import { existsSync } from "node:fs";
import { join } from "node:path";
import { isFields, present } from "../../../domain/core/parse.ts";
import { settingsDigest, unpackSettings } from "../../../lib/settings/settings.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";
import { stagesDirectory } from "../core/places.ts";
import { readStageSettings } from "../core/stage-settings.ts";
import { deployAgain, type Finding } from "./finding.ts";

/** Maximum settings to name in one finding. */
const mostNamed = 5;
const mostCharacters = 60;

/** The local settings file of a stage; undefined if there is none. @param given another file */
export function settingsFile(stage: string, given: string | undefined): string | undefined {
  const own = join(stagesDirectory, `${stage}.json`);
  return given ?? (existsSync(own) ? own : undefined);
}

/**
 * Compares the local settings, with this release's defaults, with the deployed ones.
 * @throws CommandError if they are invalid
 */
export function examineSettings(
  deployment: Pick<Deployment, "stage" | "output" | "optionalOutput">,
  file: string,
): readonly Finding[] {
  const { stage, output, optionalOutput } = deployment;
  const settings = readStageSettings(stage, file);
  if (settingsDigest(settings) === output("SettingsDigest")) return [];
  // None if the deployed release does not report its settings.
  const deployed = unpackSettings(optionalOutput("SettingsPacked") ?? "");
  const differences =
    deployed === undefined ? [] : settingsDifferences(deployed, settings).map(differenceText);
  const more = differences.length - mostNamed;
  const named = [...differences.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return [
    {
      code: "settings-differ",
      severity: "warning",
      what: `The stage ${stage} is deployed with other settings than ${file}, or with those of another release.${named === "" ? "" : ` Different: ${named}.`}`,
      why: "Later changes to the file have no effect.",
      fix: deployAgain(stage),
    },
  ];
}

function differenceText({ setting, deployed = "absent", file = "absent" }: SettingsDifference): string {
  return `${setting} (deployed ${shortened(deployed)}, in the file ${shortened(file)})`;
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}

type Recipients = {
  readonly deployment: Pick<Deployment, "stage" | "local" | "output">;
  readonly clients: Pick<Clients, "sns">;
};

/**
 * Recipients of alarms that have not confirmed their subscription.
 * @param file the stage's settings, which name them
 * @throws CommandError if they are invalid
 */
export async function examineRecipients(
  { deployment, clients }: Recipients,
  file: string,
): Promise<readonly Finding[]> {
  // A local system reports to its terminal.
  if (deployment.local !== undefined) return [];
  const { emails } = readStageSettings(deployment.stage, file).alarms;
  if (emails === undefined) return [];
  // Loads the SNS client only if it is needed.
  const { checkSubscriptions } = await import("../preflight/policy-checks.ts");
  const found = await checkSubscriptions(clients.sns, deployment.output("AlarmTopicArn"), emails);
  return found.map((finding) => ({ code: "alarms-unconfirmed", severity: "warning", ...finding }));
}

/** A setting whose deployed value differs from a file; undefined where it is missing. */
export type SettingsDifference = {
  /** `provider.requestsPerMinute`, `subscribers[0].types` */
  readonly setting: string;
  readonly deployed?: string;
  readonly file?: string;
};

/** Compares settings one by one, including defaults, in the order of their names. */
export function settingsDifferences(deployed: unknown, file: unknown): readonly SettingsDifference[] {
  const [before, after] = [leavesOf(deployed), leavesOf(file)];
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((setting) => {
    const [was, is] = [before.get(setting), after.get(setting)];
    return was === is ? [] : present<SettingsDifference>({ setting, deployed: was, file: is });
  });
}

/** Each value as JSON, by its name; a list of plain values counts as one value. */
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
