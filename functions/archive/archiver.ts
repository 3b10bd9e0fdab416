import type { Context } from "aws-lambda";
import type { DeadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { failureOf, retryable } from "../../domain/core/failures.ts";
import { isFields, numberOf } from "../../domain/core/parse.ts";
import { type DeadLetter, type DeadLetterSource, endOf } from "../../domain/recovery/dead-letter.ts";
import type { Log } from "../runtime/log.ts";

export type ArchiverDependencies = {
  /** The dead letters of each queue, by queue name. `secondsLeft` is the time left to the invocation. */
  readonly sources: (secondsLeft: () => number) => ReadonlyMap<string, DeadLetterSource>;
  readonly put: DeadLetterArchive["put"];
  /** How long a dead-letter queue keeps a message, counted from when it was first sent. */
  readonly retentionSeconds: number;
  /** How long before that end a dead letter is archived. */
  readonly beforeEndSeconds: number;
  /** A run ends when less time than this is left. */
  readonly reservedSeconds: number;
  readonly now: () => Date;
  readonly log: Log;
};

type Invocation = Pick<Context, "getRemainingTimeInMillis">;

/**
 * Writes dead letters that near the end of their retention to the archive, then deletes them; the others stay
 * in their queue. If a run is killed in between, the next one writes the same object again. An event
 * `{"beforeEndSeconds": n}` overrides that setting for one run.
 * @throws retryable failure at the end of the run, if a queue's dead letters could not be archived
 */
export function archiver(dependencies: ArchiverDependencies) {
  return async (event: unknown, invocation: Invocation): Promise<{ readonly archived: number }> => {
    const secondsLeft = () => invocation.getRemainingTimeInMillis() / 1000;
    const nearEnd = { ...dependencies, ...overrideOf(event) };
    const counts = await Promise.all(
      [...dependencies.sources(secondsLeft)].map(([queue, source]) =>
        archiveQueue(queue, source, nearEnd, secondsLeft),
      ),
    );
    if (counts.includes(undefined))
      throw retryable("some dead letters were not archived; see ARCHIVING_FAILED");
    return { archived: counts.reduce<number>((sum, count = 0) => sum + count, 0) };
  };
}

function overrideOf(event: unknown): { readonly beforeEndSeconds?: number } {
  if (!isFields(event) || event.beforeEndSeconds === undefined) return {};
  return { beforeEndSeconds: numberOf(event, "beforeEndSeconds") };
}

/** @returns the number of archived dead letters; undefined after a failure, which is logged */
async function archiveQueue(
  queue: string,
  source: DeadLetterSource,
  dependencies: ArchiverDependencies,
  secondsLeft: () => number,
): Promise<number | undefined> {
  const { put, reservedSeconds: longestRunSeconds, log } = dependencies;
  let count = 0;
  let failure: string | undefined;
  try {
    const { notRemoved } = await source(async (deadLetters) => {
      const near = deadLetters.filter((deadLetter) => isNearEnd(deadLetter, dependencies));
      const written = await Promise.allSettled(near.map((deadLetter) => put(queue, deadLetter)));
      for (const result of written)
        if (result.status === "rejected") failure = failureOf(result.reason).reason;
      const done = near.filter((_, index) => written[index]?.status === "fulfilled");
      count += done.length;
      return { done, isEnough: secondsLeft() < longestRunSeconds };
    });
    if (notRemoved > 0) failure = `${notRemoved} archived dead letters could not be deleted`;
  } catch (error) {
    failure = failureOf(error).reason;
  }
  if (count > 0) log("DEAD_LETTERS_ARCHIVED", { queue, count });
  if (failure === undefined) return count;
  log("ARCHIVING_FAILED", { queue, reason: failure });
  return undefined;
}

function isNearEnd(
  deadLetter: DeadLetter,
  { retentionSeconds, beforeEndSeconds, now }: ArchiverDependencies,
): boolean {
  return endOf(deadLetter, retentionSeconds).getTime() - now().getTime() <= beforeEndSeconds * 1000;
}
