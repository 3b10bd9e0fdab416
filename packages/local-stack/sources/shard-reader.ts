import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import type { StreamSourcePlan } from "../assembly/plan.ts";
import { synchronousPayloadBytes } from "../lambda/hosted-function.ts";
import { type BatchRunner, runStreamBatch } from "./stream-batch.ts";
import { isOlder, type StreamRecord, streamRecord } from "./stream-record.ts";

export type ShardReader = ReturnType<typeof readShard>;

export type ShardReaderOptions = Omit<BatchRunner, "plan"> & {
  readonly plan: StreamSourcePlan;
  readonly shardId: string;
  readonly startingPosition: "TRIM_HORIZON" | "LATEST";
  readonly streams: DynamoDBStreamsClient;
  readonly region: string;
  /** Records read while disabled wait: reading at once preserves the time of their writing. */
  readonly isEnabled: () => boolean;
  readonly onProblem: (message: string) => void;
  /** Sequence number of the last record that an earlier start processed. */
  readonly lastProcessed: string | undefined;
  readonly onProcessed: (sequenceNumber: string) => void;
};

/**
 * Milliseconds a reader sleeps after an empty or failed read; grows from the shortest to the longest. A write
 * wakes an idle reader.
 */
const shortestSleep = 20;
const longestSleep = 1_000;
/**
 * Milliseconds between the starts of two reads, so that under load a batch has several records; one record
 * after a pause is read at once. AWS reads a shard four times a second.
 */
const readInterval = 100;

/** Reads one shard from its starting position, in order, one batch at a time. */
export function readShard(options: ShardReaderOptions) {
  const { plan, shardId, streams, signal } = options;
  const wakeUp = createWakeUp();
  /** Signals that somebody waits for the next read. */
  const hurry = createWakeUp();
  let pending: StreamRecord[] = [];
  let gatheringSince = 0;
  let lastRead = options.lastProcessed;
  let passesStarted = 0;
  let emptyPass = 0;
  let waiters: { readonly pass: number; readonly resolve: () => void }[] = [];

  const resolveWaiters = (): void => {
    const done = waiters.filter(({ pass }) => pass <= emptyPass);
    waiters = waiters.filter(({ pass }) => pass > emptyPass);
    for (const { resolve } of done) resolve();
  };

  /** Reads once; returns the next iterator and whether there is more to do at once. */
  const pass = async (iterator: string): Promise<{ next: string | undefined; isBusy: boolean }> => {
    passesStarted += 1;
    const started = passesStarted;
    const { Records = [], NextShardIterator: next } = await streams.send(
      new GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }),
      { abortSignal: signal },
    );
    const records = Records.map((record) =>
      streamRecord(record, plan.streamArn, options.region, options.now()),
    );
    lastRead = records.at(-1)?.dynamodb.SequenceNumber ?? lastRead;
    if (pending.length === 0) gatheringSince = Date.now();
    pending.push(...records.filter((record) => isTaken(record, plan)));
    await runFullBatches(next === undefined);
    const isEmpty = records.length === 0 && pending.length === 0;
    if (isEmpty) {
      emptyPass = started;
      resolveWaiters();
    }
    return { next, isBusy: records.length > 0 };
  };

  /** With a window, a partial batch waits for more records until the window ends. */
  const runFullBatches = async (isLast: boolean): Promise<void> => {
    // A closed shard is not read again: its last records wait here.
    while (isLast && !options.isEnabled() && !signal.aborted) await wakeUp.sleep(longestSleep, signal);
    while (options.isEnabled() && !signal.aborted) {
      pending = withoutTrimmed(pending, options);
      if (pending.length === 0) return;
      const isDue = isLast || Date.now() - gatheringSince >= plan.windowSeconds * 1000;
      const batch = firstBatch(pending, plan.batchSize);
      const isFull = batch.length === plan.batchSize || batch.length < pending.length;
      if (!isFull && !isDue) return;
      await runStreamBatch(batch, options);
      const done = batch.at(-1)?.dynamodb.SequenceNumber;
      if (!signal.aborted && done !== undefined) options.onProcessed(done);
      pending = pending.slice(batch.length);
      gatheringSince = Date.now();
    }
  };

  const read = async (): Promise<void> => {
    let iterator: string | undefined;
    let failures = 0;
    let sleep = shortestSleep;
    while (!signal.aborted) {
      try {
        iterator ??= await iteratorAfter(lastRead, options);
        if (iterator === undefined) break;
        const began = performance.now();
        const { next, isBusy } = await pass(iterator);
        failures = 0;
        if (next === undefined) break;
        iterator = next;
        if (isBusy) sleep = shortestSleep;
        else {
          const isGathering = pending.length > 0 && options.isEnabled();
          await wakeUp.sleep(isGathering ? shortestSleep : sleep, signal);
          sleep = Math.min(longestSleep, sleep * 1.5);
        }
        await hurry.sleep(Math.max(0, began + readInterval - performance.now()), signal);
      } catch (error) {
        iterator = undefined;
        failures += 1;
        if (!signal.aborted) options.onProblem(`${plan.logicalId} (${shardId}): ${String(error)}`);
        await options.delay(Math.min(longestSleep, 100 * 2 ** failures), signal);
      }
    }
    emptyPass = Number.POSITIVE_INFINITY;
    resolveWaiters();
  };

  return {
    /** Resolves when the shard is closed and fully read, or the signal aborts. */
    finished: read(),
    /** Reads at once, since something may have been written. */
    wake: wakeUp.wake,
    /** Resolves when everything written before the call is processed. */
    caughtUp: () =>
      new Promise<void>((resolve) => {
        waiters.push({ pass: passesStarted + 1, resolve });
        resolveWaiters();
        wakeUp.wake();
        hurry.wake();
      }),
  };
}

async function iteratorAfter(
  lastRead: string | undefined,
  { plan, shardId, streams, signal, startingPosition }: ShardReaderOptions,
): Promise<string | undefined> {
  const position =
    lastRead === undefined
      ? { ShardIteratorType: startingPosition }
      : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const, SequenceNumber: lastRead };
  const command = new GetShardIteratorCommand({ StreamArn: plan.streamArn, ShardId: shardId, ...position });
  return (await streams.send(command, { abortSignal: signal })).ShardIterator;
}

/** Drops records past the stream's retention: AWS would read only now, and notifies nobody. */
function withoutTrimmed(pending: StreamRecord[], options: ShardReaderOptions): StreamRecord[] {
  const { plan, shardId, retentionSeconds, onProblem } = options;
  const now = options.now();
  const kept = pending.filter((record) => !isOlder(record, retentionSeconds, now));
  const trimmed = pending.length - kept.length;
  if (trimmed === 0) return pending;
  onProblem(`${plan.logicalId} (${shardId}): the stream dropped ${trimmed} records before their turn`);
  return kept;
}

function isTaken(record: StreamRecord, { filters }: StreamSourcePlan): boolean {
  return filters.length === 0 || filters.some((matches) => matches(record));
}

/** Takes as many records as fit the batch size and the payload limit. */
function firstBatch(records: readonly StreamRecord[], batchSize: number): readonly StreamRecord[] {
  let bytes = 16;
  const end = records.slice(0, batchSize).findIndex((record, index) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes > synchronousPayloadBytes && index > 0;
  });
  return records.slice(0, end < 0 ? batchSize : end);
}

/** A sleep that ends early on an event, even one shortly before the sleep. Supports one sleeper. */
export function createWakeUp() {
  let isDue = false;
  let end = (): void => {};
  return {
    wake: (): void => {
      isDue = true;
      end();
    },
    sleep: async (milliseconds: number, signal: AbortSignal): Promise<void> => {
      if (!isDue && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        end = resolve;
        const timer = setTimeout(end, milliseconds);
        signal.addEventListener("abort", end, { once: true });
        await promise;
        signal.removeEventListener("abort", end);
        clearTimeout(timer);
      }
      isDue = false;
    },
  };
}
