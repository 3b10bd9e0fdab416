import { existsSync } from "node:fs";
import { join } from "node:path";
import { settingsDigest, unpackSettings } from "../../../lib/settings/settings.ts";
import type { Deployment } from "../core/deployment.ts";
import { stagesDirectory } from "../core/places.ts";
import { readStageSettings } from "../core/stage-settings.ts";
import { deployAgain, type Finding } from "./finding.ts";
import { type SettingsDifference, settingsDifferences } from "./settings-differences.ts";

/** In one finding. */
const mostNamed = 5;
const mostCharacters = 60;

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
  deployment: Pick<Deployment, "stage" | "output" | "optionalOutput">,
  file: string,
): readonly Finding[] {
  const { stage, output } = deployment;
  if (settingsDigest(readStageSettings(stage, file)) === output("SettingsDigest")) return [];
  const differences = differencesFrom(deployment, file).map(differenceText);
  const more = differences.length - mostNamed;
  const named = [...differences.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return [
    {
      code: "settings-differ",
      severity: "warning",
      what: `The stage ${stage} is deployed with other settings than ${file}, or with those of another release.${named === "" ? "" : ` Not as there: ${named}.`}`,
      why: "What was changed there since has no effect.",
      fix: deployAgain(stage),
    },
  ];
}

/**
 * Which settings are deployed otherwise than a file says; none where they are deployed by a release that does not tell.
 * @throws CommandError where the file is wrong
 */
export function differencesFrom(
  { stage, optionalOutput }: Pick<Deployment, "stage" | "optionalOutput">,
  file: string,
): readonly SettingsDifference[] {
  const deployed = unpackSettings(optionalOutput("SettingsPacked") ?? "");
  return deployed === undefined ? [] : settingsDifferences(deployed, readStageSettings(stage, file));
}

function differenceText({ setting, deployed = "absent", file = "absent" }: SettingsDifference): string {
  return `${setting} (deployed ${shortened(deployed)}, in the file ${shortened(file)})`;
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
}
