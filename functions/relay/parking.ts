import type { DynamoDBRecord } from "aws-lambda";
import type { ParkedBatch, StreamRecord } from "../../adapters/streams/change-stream.ts";
import { failureOf } from "../../domain/core/failures.ts";
import type { Log } from "../runtime/log.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";
import { completeSteps, derive, latenciesOf, type RelayDependencies, type Step } from "./derive.ts";

/** Younger records are not marked: they have hardly been tried, and each mark costs a write. */
const unmarkedInSeconds = 60;
/** A record that ends the process this many times is parked. A single timeout may be the table's fault. */
const mostEndings = 5;

/**
 * Runs a batch and counts how often a record ends the process (a timeout, lack of memory, a crash). Lambda
 * halves a failed batch until such a record is alone. The record is marked before the work and unmarked after
 * it, so marks count the ends of processes. After too many marks the record is parked.
 * @returns undefined if the record was parked, else what `run` returns
 */
export async function runMarked<T>(
  records: readonly DynamoDBRecord[],
  run: () => Promise<T>,
  { marks, park, now, log }: Pick<RelayDependencies, "marks" | "park" | "now" | "log">,
): Promise<T | undefined> {
  const [record, ...others] = records;
  const id = record === undefined || others.length > 0 ? undefined : idOfOld(record, now());
  if (record === undefined || id === undefined) return run();
  // If the table does not answer, the work fails without ending the process.
  const endings = await marks.add(id).catch(() => 0);
  if (endings >= mostEndings) {
    const reason = `the process ended ${endings} times while it worked on this record`;
    await park([record], reason);
    logParked(record, { reason }, log);
    return undefined;
  }
  try {
    return await run();
  } finally {
    await marks.clear(id).catch(() => undefined);
  }
}

export function logParked(
  { dynamodb }: StreamRecord,
  { reason, correlationId }: { readonly reason: string; readonly correlationId?: string | undefined },
  log: Log,
): void {
  const messageId = dynamodb?.SequenceNumber;
  log("RECORD_PARKED", { ...(messageId !== undefined && { messageId }), correlationId, reason });
}

function idOfOld({ dynamodb }: DynamoDBRecord, now: Date): string | undefined {
  const { SequenceNumber: id, ApproximateCreationDateTime: created } = dynamodb ?? {};
  if (id === undefined || created === undefined) return undefined;
  return now.getTime() / 1_000 - created >= unmarkedInSeconds ? id : undefined;
}

/**
 * Resends messages that were parked for subscribers. They are derived from the changes again, without those
 * about subjects erased since. If a run is killed, the next one may send some again.
 */
export async function resendParked(
  dependencies: RelayDependencies,
  resending: {
    /** By subscriber name: sends to this subscriber only. */
    readonly publishTo: ReadonlyMap<string, Publish>;
    /** By subscriber name. */
    readonly parked: () => Promise<ReadonlyMap<string, readonly ParkedBatch[]>>;
    /** Parking for longer than this raises the alarm. */
    readonly lastsSeconds: number;
    /** Time after which a run starts no further batch. */
    readonly longestRunSeconds: number;
  },
): Promise<void> {
  const { now, log } = dependencies;
  const end = now().getTime() + resending.longestRunSeconds * 1_000;
  const parked = await resending.parked();
  const resent = [...resending.publishTo].map(async ([subscriber, publish]) => {
    const sent: Step[] = [];
    for (const batch of parked.get(subscriber) ?? []) {
      if (now().getTime() >= end) break;
      const outcome = await resend(batch, publish, dependencies).catch(
        (error: unknown) => failureOf(error).reason,
      );
      if (typeof outcome === "string") {
        const isLasting = now().getTime() - batch.since.getTime() > resending.lastsSeconds * 1_000;
        if (isLasting)
          log("SUBSCRIBER_UNREACHABLE", { subscriber, reason: outcome, from: batch.since.toISOString() });
        // The queue would refuse the later batches, too.
        break;
      }
      sent.push(...outcome);
    }
    const count = sent.flatMap(messagesOf).length;
    if (count > 0) log("SUBSCRIBER_RESENT", { subscriber, count, ...latenciesOf(sent, now()) });
  });
  await Promise.all(resent);
}

/** @returns the changes if their messages were sent, else the reason why some were not */
async function resend(
  parked: ParkedBatch,
  publish: Publish,
  dependencies: RelayDependencies,
): Promise<readonly Step[] | string> {
  const derived = (await parked.read()).map((record) => derive(record, dependencies));
  const steps = await completeSteps(derived, dependencies);
  const unread = steps.find(({ failure }) => failure !== undefined)?.failure;
  if (unread !== undefined) return unread.reason;
  const [refused] = await publish(
    steps.flatMap((step, index) => messagesOf(step).map((message) => ({ index, ...message }))),
  );
  if (refused !== undefined) return refused.failure.reason;
  await parked.remove();
  return steps;
}

function messagesOf({ consequences }: Step) {
  return consequences.flatMap((each) =>
    each.type === "publish" ? [{ message: each.message, storage: each.storage }] : [],
  );
}
