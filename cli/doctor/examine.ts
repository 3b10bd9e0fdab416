import { CommandError, exitCodes } from "../core/command-error.ts";
import { isGone } from "../core/explain.ts";
import { alarmCheck } from "./alarm-check.ts";
import { clockCheck } from "./clock-check.ts";
import { failuresCheck } from "./failures-check.ts";
import { type Check, deployAgain, type Examination, type Finding } from "./finding.ts";
import { eventSourceCheck, functionCheck } from "./function-checks.ts";
import { deadLetterCheck, readerCheck } from "./queue-checks.ts";
import { examineSettings, settingsFile } from "./settings-check.ts";
import { tokenCheck } from "./token-check.ts";
import { registrationCheck, webhookSecretCheck } from "./webhook-checks.ts";

export type Diagnosis = {
  readonly findings: readonly Finding[];
  /** What was looked at. */
  readonly checked: readonly string[];
};

/** In the order of the data's way. */
const checks: readonly Check[] = [
  webhookSecretCheck,
  registrationCheck,
  deadLetterCheck,
  eventSourceCheck,
  functionCheck,
  failuresCheck,
  tokenCheck,
  readerCheck,
  alarmCheck,
  clockCheck,
];

type Outcome =
  | { readonly findings: readonly Finding[] }
  | { readonly lacks: unknown; readonly finding: Finding };

/**
 * Looks at all that can be wrong with a stage.
 * @param settings a file in the place of the stage's own
 * @throws what AWS refuses, and what is not there where nothing of the stage is
 */
export async function examine(examination: Examination, settings: string | undefined): Promise<Diagnosis> {
  const { stage } = examination.deployment;
  const ofStage = await Promise.all(
    checks.map(({ examine: look }) => outcomeOf(() => look(examination), stage)),
  );
  const lacking = ofStage.flatMap((outcome) => ("lacks" in outcome ? [outcome.lacks] : []));
  if (lacking.length === checks.length) throw lacking[0];
  const file = settingsFile(stage, settings);
  const ofSettings =
    file && (await outcomeOf(async () => examineSettings(examination.deployment, file), stage));
  const findings = [...ofStage, ...(ofSettings ? [ofSettings] : [])].flatMap((outcome) =>
    "lacks" in outcome ? [outcome.finding] : outcome.findings,
  );
  const checked = [...checks.map(({ name }) => name), ...(file === undefined ? [] : ["settings"])];
  return { findings: distinct(findings), checked };
}

/** Something that the outputs name and that is not there is a finding too, and so is an output that is missing. */
async function outcomeOf(look: () => Promise<readonly Finding[]>, stage: string): Promise<Outcome> {
  try {
    return { findings: await look() };
  } catch (error) {
    const isMissing = error instanceof CommandError && error.exitCode === exitCodes.noDeployment;
    if (!isMissing && !isGone(error)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const why = "The outputs are not those of the last deployment, or a part of the stage was removed.";
    return { lacks: error, finding: { what, why, fix: deployAgain(stage) } };
  }
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
