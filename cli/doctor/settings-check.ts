import { existsSync } from "node:fs";
import { join } from "node:path";
import { settingsDigest } from "../../lib/settings/settings.ts";
import type { Deployment } from "../core/deployment.ts";
import { stagesDirectory } from "../core/places.ts";
import { readStageSettings } from "../core/stage-settings.ts";
import { deployAgain, type Finding } from "./finding.ts";

/** The file of a stage's settings here; undefined where there is none to compare with. @param given another file */
export function settingsFile(stage: string, given: string | undefined): string | undefined {
  const own = join(stagesDirectory, `${stage}.json`);
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
  if (settingsDigest(readStageSettings(stage, file)) === output("SettingsDigest")) return [];
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
