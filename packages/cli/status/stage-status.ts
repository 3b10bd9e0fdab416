import type { StackAlarm } from "../../../adapters/aws/stack-alarms.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";
import { pipelineAlarms } from "./alarm-text.ts";
import { type IgnoredEvents, ignoredEvents, wrongPaths } from "./ignored-events.ts";
import { type QueueStatus, queueStatuses } from "./queue-status.ts";
import { type RegistrationStatus, registrationStatus } from "./registration-status.ts";
import { type TokenStatus, tokenStatus } from "./token-status.ts";
import { workQueues } from "./work-queues.ts";

export type StageStatus = {
  readonly stage: string;
  readonly region: string;
  readonly at: string;
  /** In the order in which data flows. */
  readonly queues: readonly QueueStatus[];
  readonly token: TokenStatus;
  readonly registrations: RegistrationStatus;
  /** Undefined if the settings ignore no events. */
  readonly ignored?: IgnoredEvents;
  /** Requests of the last 24 hours to paths of no webhook kind. */
  readonly wrongPaths: number;
  readonly alarms: readonly StackAlarm[];
};

export async function stageStatus(
  deployment: Deployment,
  clients: Clients,
  now: () => Date,
): Promise<StageStatus> {
  const [queues, token, registrations, alarms, ignored, wrong] = await Promise.all([
    queueStatuses(workQueues(deployment), clients, now),
    tokenStatus(deployment, clients),
    registrationStatus(deployment, clients),
    pipelineAlarms({ deployment, clients }),
    ignoredEvents(deployment, clients, now),
    wrongPaths(deployment, clients, now),
  ]);
  const { stage, client } = deployment;
  return {
    ...{ stage, region: client.region, at: now().toISOString(), queues, token, registrations },
    ...present({ ignored }),
    wrongPaths: wrong,
    alarms,
  };
}
