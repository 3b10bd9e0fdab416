import type { Gateway } from "@income-events/local-stack/gateway/types.ts";
import type { SubscriberOutput } from "@income-events/local-stack/outputs.ts";

const refusal = {
  status: 400,
  errorType: "AWS.SimpleQueueService.NonExistentQueue",
  message: "The specified queue does not exist (refused by the scenario).",
};

export type Refusals = {
  /** Whose sending no queue has refused yet: function and subscriber. */
  notRefused(): readonly string[];
  stop(): void;
};

/**
 * Lets the queue of each subscriber refuse one sending of each sender: what was in it must be parked in the dead-letter
 * queue.
 * @param senders names of functions
 */
export function refuseEachOnce(
  gateway: Gateway,
  senders: readonly string[],
  subscribers: readonly SubscriberOutput[],
): Refusals {
  const notRefused = new Map(
    senders.flatMap((sender) =>
      subscribers.map(({ name, queueUrl }) => [`${sender} ${queueNameOf(queueUrl)}`, `${sender} to ${name}`]),
    ),
  );
  const stop = gateway.intercept(async ({ principal, action, resources }, phase) => {
    if (phase !== "before" || action !== "sqs:SendMessageBatch") return undefined;
    const sending = resources
      .map((arn) => `${principal} ${arn.split(":").at(-1)}`)
      .find((key) => notRefused.has(key));
    if (sending === undefined) return undefined;
    notRefused.delete(sending);
    return refusal;
  });
  return { notRefused: () => [...notRefused.values()], stop };
}

function queueNameOf(url: string): string {
  return url.split("/").at(-1) ?? url;
}
