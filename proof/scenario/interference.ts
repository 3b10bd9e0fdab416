import type { Gateway } from "@income-events/local-stack/gateway/types.ts";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";

/** Something that the scenario does once to each of several targets. */
export type OncePerTarget = {
  /** What it has not been done to yet. */
  readonly left: () => readonly string[];
  readonly stop: () => void;
};

/** What Lambda itself calls with a function's role, to poll its queue or stream: not the function's own work. */
const polls: ReadonlySet<string> = new Set([
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:DeleteMessageBatch",
  "sqs:GetQueueAttributes",
  "dynamodb:DescribeStream",
  "dynamodb:GetShardIterator",
  "dynamodb:GetRecords",
  "dynamodb:ListStreams",
]);

/**
 * Kills each function once while it works: right after an engine applied one of its calls, and before the function
 * learns of it. That is where a pipeline that forgets, forgets.
 */
export function killEachOnce({ gateway, functions }: LocalStack): OncePerTarget & { count(): number } {
  const left = new Map(functions.map((target) => [target.name, target]));
  let count = 0;
  const stop = gateway.intercept(async ({ principal, action }, phase) => {
    const target = left.get(principal);
    if (target === undefined || phase !== "after" || polls.has(action)) return undefined;
    const killed = target.killWorking();
    // The call of a process that has ended meanwhile.
    if (killed === 0) return undefined;
    left.delete(principal);
    count += killed;
    return "drop";
  });
  return { left: () => [...left.keys()], stop, count: () => count };
}

/** Functions that send to subscribers. */
const notifiesSubscribers = /^(?:Relay|Erase)/;
const refusal = {
  status: 400,
  errorType: "AWS.SimpleQueueService.NonExistentQueue",
  message: "The specified queue does not exist (refused by the scenario).",
};

/**
 * Lets the queue of each subscriber refuse one message batch of each sender: what was in it must be parked in the
 * dead-letter queue.
 */
export function refuseEachOnce(stack: LocalStack): OncePerTarget {
  const senders = stack.functions.filter(({ logicalId }) => notifiesSubscribers.test(logicalId));
  const queues = subscribersOf(stack).map(({ queueUrl }) => queueUrl.split("/").at(-1));
  const left = new Set(senders.flatMap(({ name }) => queues.map((queue) => `${name} to ${queue}`)));
  const gateway: Gateway = stack.gateway;
  const stop = gateway.intercept(async ({ principal, action, resources }, phase) => {
    if (phase !== "before" || action !== "sqs:SendMessageBatch") return undefined;
    const sendings = resources.map((arn) => `${principal} to ${arn.split(":").at(-1)}`);
    return sendings.some((sending) => left.delete(sending)) ? refusal : undefined;
  });
  return { left: () => [...left], stop };
}
