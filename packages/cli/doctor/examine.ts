import { CommandError, exitCodes, isGone, isNotAllowed } from "../core/command-error.ts";
import type { DeploymentOptions } from "../core/deployment.ts";
import { registrationStatus } from "../provider/registration.ts";
import { queueStatuses, workQueues } from "../status/work-queues.ts";
import { examineAlarms } from "./alarm-check.ts";
import { byCause, type Diagnosis } from "./causes.ts";
import {
  type Check,
  deployAgain,
  type Examination,
  type Examined,
  type Finding,
  found,
  remedyFor,
} from "./finding.ts";
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
 * @param settings a file to use instead of the stage's own @param options that selected it; remedies repeat them
 * @throws AWS's error if it refuses every call, or if nothing of the stage exists
 */
export async function examine(
  place: Pick<Examination, "deployment" | "clients" | "now">,
  settings: string | undefined,
  options: DeploymentOptions,
): Promise<Diagnosis> {
  const { deployment, clients, now } = place;
  const { stage } = deployment;
  const examination: Examination = {
    ...place,
    registrations: once(() => registrationStatus(place)),
    queues: once(() => queueStatuses(workQueues(deployment), clients, () => now)),
  };
  const ofStage = await Promise.all(
    checks.map(({ examine: look }) => outcomeOf(() => look(examination), stage)),
  );
  const lacking = ofStage.filter((outcome) => "lacks" in outcome);
  if (lacking.length === checks.length) throw lacking[0]?.lacks;
  const file = settingsFile(stage, settings);
  const well = ofStage.flatMap((outcome) => outcome.well);
  const others: readonly (() => Promise<readonly Finding[]>)[] = [
    ...(file === undefined
      ? []
      : [async () => examineSettings(deployment, file), () => examineRecipients(examination, file)]),
    () => examineAlarms(examination, well),
  ];
  const ofOthers = await Promise.all(others.map((look) => outcomeOf(async () => found(await look()), stage)));
  const all = [...ofStage, ...ofOthers].flatMap((outcome) => outcome.findings);
  const findings = [...new Map(all.map((finding) => [JSON.stringify(finding), finding])).values()];
  const remedied = <T extends Finding>(finding: T): T => ({
    ...finding,
    fix: remedyFor(finding.fix, deployment, options),
  });
  const causes = byCause(findings).map((cause) => ({
    ...remedied(cause),
    follows: cause.follows.map(remedied),
  }));
  const names = [...checks.map(({ name }) => name), ...(file === undefined ? [] : ["settings"]), "alarms"];
  return { findings: causes, checked: names };
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= ask();
    return asked;
  };
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
