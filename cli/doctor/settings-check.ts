import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSettings, SettingsError, settingsDigest } from "../../lib/settings/settings.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { deployAgain, type Finding } from "./finding.ts";

const stages = join(import.meta.dirname, "../../stages");

/** The file of a stage's settings here; undefined where there is none to compare with. @param given another file */
export function settingsFile(stage: string, given: string | undefined): string | undefined {
  const own = join(stages, `${stage}.json`);
  return given ?? (existsSync(own) ? own : undefined);
}

/**
 * Compares the settings here, with the defaults of this release, with those that are deployed.
 * @throws CommandError where they are wrong
 */
export function examineSettings(
  { stage, output }: Pick<Deployment, "stage" | "output">,
  file: string,
): readonly Finding[] {
  if (digestOf(stage, file) === output("SettingsDigest")) return [];
  return [
    {
      code: "settings-differ",
      severity: "warning",
      what: `The stage ${stage} is deployed with other settings than ${file}, or with those of another release.`,
      why: "What was changed there since has no effect.",
      fix: deployAgain(stage),
    },
  ];
}

function digestOf(stage: string, file: string): string {
  try {
    return settingsDigest(loadSettings(stage, stages, file));
  } catch (error) {
    if (error instanceof SettingsError) throw new CommandError("usage", error.message);
    throw error;
  }
}
