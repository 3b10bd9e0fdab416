import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nameOf, productionSettings, type Resource, synthesized } from "./synthesized.ts";

export const repository = join(import.meta.dirname, "../..");

export const production = synthesized(productionSettings);

const localSettings = JSON.parse(readFileSync(join(repository, "stages/local.json"), "utf8"));

export const local = synthesized(localSettings, "local");

/** The logical id, without hash, that a `Ref` or `Fn::GetAtt` references. */
export function targetOf(value: unknown): string {
  const found = /"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/.exec(JSON.stringify(value) ?? "");
  return nameOf(found?.[1] ?? "");
}

export function functionOf(stack: typeof production, name: string): Resource {
  return stack.withId(`${name}Function`);
}
