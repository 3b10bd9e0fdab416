import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { HostedFunction } from "../lambda/hosted-function.ts";

export type DrainOptions = {
  /** Milliseconds from now. */
  readonly deadline: number;
};

type Drained = {
  readonly sqs: SQSClient;
  /** Queues that feed functions. */
  readonly queueUrls: readonly string[];
  readonly streams: readonly { caughtUp(): Promise<void> }[];
  readonly functions: readonly HostedFunction[];
  pendingEvents(): number;
};

/** Milliseconds between two checks, from the first to the longest: each check calls the engine. */
const shortestInterval = 25;
const longestInterval = 250;

/**
 * Resolves when all work is done. Parts feed each other, so all must be idle with no invocation in between.
 * @throws Error at the deadline, naming the remaining work
 */
export async function waitUntilDrained(parts: Drained, { deadline }: DrainOptions): Promise<void> {
  const late = AbortSignal.timeout(deadline);
  const expired = new Promise<"late">((resolve) => {
    late.addEventListener("abort", () => resolve("late"), { once: true });
  });
  for (let interval = shortestInterval; ; interval = Math.min(longestInterval, interval * 1.5)) {
    const before = invocations(parts);
    const left = await leftIn(parts);
    if (left === undefined) {
      const caughtUp = Promise.all(parts.streams.map((stream) => stream.caughtUp()));
      if ((await Promise.race([caughtUp, expired])) === "late")
        throw notDrained("records in streams", deadline);
      if ((await leftIn(parts)) === undefined && invocations(parts) === before) return;
    }
    if (late.aborted) throw notDrained(left ?? "functions at work", deadline);
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

function invocations({ functions }: Drained): number {
  return functions.reduce((sum, { counts }) => sum + counts().invocations, 0);
}

async function leftIn({ sqs, queueUrls, functions, pendingEvents }: Drained): Promise<string | undefined> {
  const working = functions.find(({ counts }) => counts().running > 0);
  if (working !== undefined) return `the function ${working.plan.name} at work`;
  if (pendingEvents() > 0) return `${pendingEvents()} asynchronous events`;
  for (const url of queueUrls) {
    const messages = await queueDepth(sqs, url);
    if (messages > 0) return `${messages} messages in ${url}`;
  }
  return undefined;
}

function notDrained(left: string, deadline: number): Error {
  return new Error(`Not drained within ${deadline / 1000} s: ${left}. problems() may say why.`);
}

/** Number of messages in a queue, including delayed ones and those in flight. */
export async function queueDepth(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
      ],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
