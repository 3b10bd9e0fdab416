import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";
import { readStageSettings } from "../core/stage-settings.ts";
import type { Finding } from "./finding.ts";

type Recipients = {
  readonly deployment: Pick<Deployment, "stage" | "local" | "output">;
  readonly clients: Pick<Clients, "sns">;
};

/**
 * Addresses that are to be notified of alarms and are not.
 * @param file the stage's settings, which name them
 * @throws CommandError where they are wrong
 */
export async function examineRecipients(
  { deployment, clients }: Recipients,
  file: string,
): Promise<readonly Finding[]> {
  // What runs on this machine informs its terminal.
  if (deployment.local !== undefined) return [];
  const { emails } = readStageSettings(deployment.stage, file).alarms;
  if (emails === undefined) return [];
  // With the client of SNS, which most stages' examination does without.
  const { checkSubscriptions } = await import("../preflight/alarm-checks.ts");
  const found = await checkSubscriptions(clients.sns, deployment.output("AlarmTopicArn"), emails);
  return found.map((finding) => ({ code: "alarms-unconfirmed", severity: "warning", ...finding }));
}
