import { Fn } from "aws-cdk-lib";
import type { Fetching } from "../provider/fetching.ts";
import type { Readiness } from "../readiness/readiness.ts";
import type { WebhookEndpoint } from "./webhook-endpoint.ts";
import type { WorkQueue } from "./work-queue.ts";

type QueueOwners = {
  readonly receiving: ReadonlyMap<string, WebhookEndpoint>;
  readonly fetching: Fetching;
  /** Undefined without the setting `readiness`. */
  readonly readiness: Readiness | undefined;
};

/**
 * The pipeline's own queues with dead letters, except that of erasures, by their names in
 * packages/cli/status/work-queues.ts.
 */
export function ownWorkQueues({
  receiving,
  fetching,
  readiness,
}: QueueOwners): ReadonlyMap<string, WorkQueue> {
  return new Map<string, WorkQueue>([
    ...[...receiving].map(([kind, { work }]) => [kind, work] as const),
    ["fetch", fetching.work],
    ["checks", fetching.checks],
    ...(readiness === undefined ? [] : [["deadlines", readiness.work] as const]),
  ]);
}

/** Names for a function's environment, in the order of the queues. Their URLs would not fit into it. */
export function deadLetterQueueNames(works: ReadonlyMap<string, WorkQueue>): string {
  const names = [...works.values()].map(({ deadLetterQueue }) => deadLetterQueue.queueName);
  return Fn.join(",", names);
}
