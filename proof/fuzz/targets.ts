import { join } from "node:path";
import type { Target } from "./target.ts";
import * as commandLine from "./targets/command-line.ts";
import * as erasureLookUp from "./targets/erasure-look-up.ts";
import * as mappingExpression from "./targets/mapping-expression.ts";
import * as message from "./targets/message.ts";
import * as outputs from "./targets/outputs.ts";
import * as providerAnswer from "./targets/provider-answer.ts";
import * as providerHttp from "./targets/provider-http.ts";
import * as read from "./targets/read.ts";
import * as settings from "./targets/settings.ts";
import * as token from "./targets/token.ts";
import * as webhook from "./targets/webhook.ts";

/** What is fuzzed, in order, by the name of its file in `targets/`, and its share of all inputs. */
const entries = {
  webhook: [webhook, 0.2],
  "mapping-expression": [mappingExpression, 0.1],
  "provider-answer": [providerAnswer, 0.15],
  "provider-http": [providerHttp, 0.02],
  token: [token, 0.13],
  message: [message, 0.1],
  read: [read, 0.05],
  "command-line": [commandLine, 0.05],
  settings: [settings, 0.05],
  "erasure-look-up": [erasureLookUp, 0.1],
  outputs: [outputs, 0.05],
} as const;

export type TargetName = keyof typeof entries;
export const targetNames = Object.keys(entries).filter(isName);

export function targetOf(name: TargetName): Target {
  return entries[name][0].target;
}

/** The module of a target. */
export function fileOf(name: TargetName): string {
  return join(import.meta.dirname, "targets", `${name}.ts`);
}

/** How many inputs each target gets, together at least `inputs`. */
export function inputsOf(inputs: number, names: readonly TargetName[]): ReadonlyMap<TargetName, number> {
  const whole = names.reduce((sum, name) => sum + entries[name][1], 0);
  return new Map(names.map((name) => [name, Math.ceil((inputs * entries[name][1]) / whole)]));
}

function isName(name: string): name is TargetName {
  return Object.hasOwn(entries, name);
}
