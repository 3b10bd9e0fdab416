import { CommandError, exitCodes, isGone, isNotAllowed } from "../core/command-error.ts";
import { type RegistrationStatus, registrationStatus } from "../provider/registration.ts";
import { examineAlarms } from "./alarm-check.ts";
import { byCause, type Diagnosis } from "./causes.ts";
import { type Check, deployAgain, type Examination, type Examined, type Finding, found } from "./finding.ts";
import {
  clockCheck,
  providerCheck,
  reconciliationCheck,
  registrationCheck,
  tokenCheck,
  webhookSecretCheck,
} from "./provider-checks.ts";
import { eventSourceCheck, failuresCheck, functionCheck, queueCheck, readerCheck } from "./queue-checks.ts";
import { examineRecipients, examineSettings, settingsFile } from "./settings-check.ts";

/** In the order in which data flows. */
const checks: readonly Check[] = [
  webhookSecretCheck,
  registrationCheck,
  queueCheck,
  eventSourceCheck,
  functionCheck,
  failuresCheck,
  tokenCheck,
  providerCheck,
  reconciliationCheck,
  readerCheck,
  clockCheck,
];

type Outcome = Examined & { readonly lacks?: unknown };

/**
 * Runs all checks of a stage.
 * @param settings a file to use instead of the stage's own
 * @throws AWS's error if it refuses every call, or if nothing of the stage exists
 */
export async function examine(
  stageParts: Omit<Examination, "registrations">,
  settings: string | undefined,
): Promise<Diagnosis> {
  const { deployment, clients } = stageParts;
  const { stage } = deployment;
  let asked: Promise<RegistrationStatus> | undefined;
  const registrations = () => {
    asked ??= registrationStatus(deployment, clients);
    return asked;
  };
  const examination = { ...stageParts, registrations };
  const ofStage = await Promise.all(
    checks.map(({ examine: look }) => outcomeOf(() => look(examination), stage)),
  );
  const lacking = ofStage.filter((outcome) => "lacks" in outcome);
  if (lacking.length === checks.length) throw lacking[0]?.lacks;
  const file = settingsFile(stage, settings);
  const ofSettings = file && (await outcomeOf(async () => found(examineSettings(deployment, file)), stage));
  const ofRecipients =
    file && (await outcomeOf(async () => found(await examineRecipients(examination, file)), stage));
  const well = ofStage.flatMap((outcome) => outcome.well);
  const ofAlarms = await outcomeOf(async () => found(await examineAlarms(examination, well)), stage);
  const findings = [
    ...ofStage,
    ...(ofSettings ? [ofSettings] : []),
    ...(ofRecipients ? [ofRecipients] : []),
    ofAlarms,
  ].flatMap((outcome) => outcome.findings);
  const names = [...checks.map(({ name }) => name), ...(file === undefined ? [] : ["settings"]), "alarms"];
  return { findings: byCause(distinct(findings)), checked: names };
}

/**
 * A missing resource or output and a missing permission are findings, too; the other checks still run.
 */
async function outcomeOf(look: () => Promise<Examined>, stage: string): Promise<Outcome> {
  try {
    return await look();
  } catch (error) {
    if (isNotAllowed(error)) return { lacks: error, findings: [notAllowed(error)], well: [] };
    const isMissing = error instanceof CommandError && error.exitCode === exitCodes.noDeployment;
    if (!isMissing && !isGone(error)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const why = "The outputs are not those of the last deployment, or a part of the stage was removed.";
    const finding: Finding = { code: "part-missing", severity: "error", what, why, fix: deployAgain(stage) };
    return { lacks: error, findings: [finding], well: [] };
  }
}

function notAllowed({ message }: Error): Finding {
  const [, action] = / perform: (\S+)/.exec(message) ?? [];
  return {
    code: "permission-missing",
    severity: "warning",
    what: `Your credentials don't allow ${action ?? "all checks"}`,
    why: `A part of the stage was not checked. ${message}`,
    fix: "aws sts get-caller-identity",
  };
}

function distinct(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
