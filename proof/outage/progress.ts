import { SQSClient } from "@aws-sdk/client-sqs";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/queue-depth.ts";
import type { Progress, System } from "@income-events/local-stack/system.ts";

const everyMs = 5_000;

/** Reports long work every few seconds, until it is disposed of. */
export function reportProgress(progress: Progress, line: () => string | Promise<string>): Disposable {
  const report = async () => progress(await line());
  // A line that can't be made is left out: the work itself says what is wrong.
  const timer = setInterval(() => void report().catch(() => undefined), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** How many tasks wait in the fetch queue, and how many messages lie in all dead-letter queues. */
export function queueDepths({ stack, access }: System) {
  const sqs = new SQSClient(access);
  const fetchQueue = outputOf(stack, "FetchQueueUrl");
  return {
    waiting: () => queueDepth(sqs, fetchQueue),
    deadLetters: async () => {
      const depths = await Promise.all(deadLetterQueuesOf(stack).map(({ url }) => queueDepth(sqs, url)));
      return depths.reduce((sum, depth) => sum + depth, 0);
    },
    [Symbol.dispose]: () => sqs.destroy(),
  };
}
