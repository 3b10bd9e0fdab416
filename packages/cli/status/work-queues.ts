import { queueDepth, queueMetrics } from "../../../adapters/sqs/queue-metrics.ts";
import { fieldsOf, parseJson, present, textOf } from "../../../domain/core/parse.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { parseSubscribers, type Subscriber } from "../../../domain/message/message.ts";
import type { Clients } from "../core/clients.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";

/** A queue of the stage and its dead-letter queue, by the name that commands use. */
export type WorkQueue = {
  /** A webhook kind, `fetch`, `checks`, `deadlines`, `erase`, or `subscriber/<name>`. */
  readonly name: string;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Whether the stage's own functions read it. A subscriber can have the name of such a queue. */
  readonly isOwn?: true;
};

export type SubscriberQueue = Subscriber & Pick<WorkQueue, "queueUrl" | "deadLetterQueueUrl">;

/** The queues that the stage's own functions read, in the order in which data flows. */
export const ownQueues = [...webhookKinds, "fetch", "checks", "deadlines", "erase"] as const;
type OwnQueue = (typeof ownQueues)[number];

type Outputs = Pick<Deployment, "output" | "optionalOutput">;

/** The name of a queue's output: `CompanyAccountsQueueUrl`. */
function outputOf(name: OwnQueue, what: string): string {
  return `${name.replace(/(?:^|-)(.)/g, (_, first: string) => first.toUpperCase())}${what}`;
}

/**
 * Every queue of the stage, in the order in which data flows. @throws CommandError if an output is missing
 */
export function workQueues(deployment: Outputs): readonly WorkQueue[] {
  const subscribers = subscriberQueues(deployment).map(({ name, queueUrl, deadLetterQueueUrl }) => ({
    name: `subscriber/${name}`,
    queueUrl,
    deadLetterQueueUrl,
  }));
  return [...ownQueuesOf(deployment).map((name) => workQueue(deployment, name)), ...subscribers];
}

/** The own queues of a stage; there are deadlines only with `readiness`. */
export function ownQueuesOf({ optionalOutput }: Pick<Outputs, "optionalOutput">): readonly OwnQueue[] {
  const hasDeadlines = optionalOutput(outputOf("deadlines", "QueueUrl")) !== undefined;
  return ownQueues.filter((name) => name !== "deadlines" || hasDeadlines);
}

export function workQueue({ output }: Pick<Outputs, "output">, name: OwnQueue): WorkQueue {
  return {
    name,
    queueUrl: output(outputOf(name, "QueueUrl")),
    deadLetterQueueUrl: output(outputOf(name, "DeadLetterQueueUrl")),
    isOwn: true,
  };
}

/** The ARN of a queue, which event sources need. */
export function workQueueArn({ output }: Pick<Outputs, "output">, name: OwnQueue): string {
  return output(outputOf(name, "QueueArn"));
}

/**
 * Subscribers, the types that they receive, and their queues. @throws permanent failure naming the field of
 * the output
 */
export function subscriberQueues({ output }: Pick<Outputs, "output">): readonly SubscriberQueue[] {
  const value = parseJson(output("Subscribers"), "the output Subscribers");
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return parseSubscribers(value).map((subscriber, index) => {
    const fields = fieldsOf(entries[index], "Subscribers");
    return {
      ...subscriber,
      queueUrl: textOf(fields, "queueUrl"),
      deadLetterQueueUrl: textOf(fields, "deadLetterQueueUrl"),
    };
  });
}

/** @throws CommandError naming the stage's subscribers */
export function subscriberNamed<One extends Subscriber>(all: readonly One[], name: string): One {
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = all.map((each) => each.name).join(", ") || "none";
  throw CommandError.usage(`No subscriber ${name}. The stage has: ${known}.`);
}

/**
 * The current status of a queue. Ages and times are undefined without messages or measurements. `neverRead`: messages
 * wait for a subscriber that has not polled within two weeks; `lastPolledAt` is known while messages wait.
 */
export type QueueStatus = Awaited<ReturnType<typeof queueStatuses>>[number];

/** Depths come from SQS, ages and times from CloudWatch (docs/adr/0008). */
export async function queueStatuses(
  queues: readonly WorkQueue[],
  { sqs, cloudWatch }: Pick<Clients, "sqs" | "cloudWatch">,
  now: () => Date,
) {
  const metrics = queueMetrics(cloudWatch, now);
  const all = queues.flatMap(({ queueUrl, deadLetterQueueUrl }) => [queueUrl, deadLetterQueueUrl]);
  const [ages, lastSent, depths] = await Promise.all([
    metrics.oldestAges(all),
    metrics.lastSent(queues.map(({ queueUrl }) => queueUrl)),
    Promise.all(all.map(async (url) => [url, await queueDepth(sqs, url)] as const)),
  ]);
  const depthOf = new Map(depths);
  const held = queues
    .filter(({ isOwn, queueUrl }) => isOwn !== true && (depthOf.get(queueUrl)?.waiting ?? 0) > 0)
    .map(({ queueUrl }) => queueUrl);
  const polled = held.length === 0 ? new Map<string, Date>() : await metrics.lastAsked(held);
  return queues.map(({ name, queueUrl, deadLetterQueueUrl }) => {
    const { waiting = 0, inFlight = 0, retentionSeconds = 0 } = depthOf.get(queueUrl) ?? {};
    const dead = depthOf.get(deadLetterQueueUrl);
    const deadLetters = (dead?.waiting ?? 0) + (dead?.inFlight ?? 0);
    return {
      name,
      waiting,
      inFlight,
      deadLetters,
      retentionSeconds,
      ...present({
        oldestSeconds: waiting + inFlight === 0 ? undefined : ages.get(queueUrl),
        oldestDeadLetterSeconds: deadLetters === 0 ? undefined : ages.get(deadLetterQueueUrl),
        lastSentAt: lastSent.get(queueUrl)?.toISOString(),
        lastPolledAt: polled.get(queueUrl)?.toISOString(),
      }),
      ...(held.includes(queueUrl) && !polled.has(queueUrl) && { neverRead: true as const }),
    };
  });
}
