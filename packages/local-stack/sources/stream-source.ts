import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  type Shard,
} from "@aws-sdk/client-dynamodb-streams";
import type { S3Client } from "@aws-sdk/client-s3";
import { z } from "zod";
import type { StreamSourcePlan } from "../assembly/plan.ts";
import type { KeptJson } from "../engines/kept.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Call } from "../gateway/types.ts";
import type { Delay } from "../lambda/delay.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { createWakeUp, readShard, type ShardReader } from "./shard-reader.ts";
import { type BatchRunner, type GivenUp, putInvocationRecord } from "./stream-batch.ts";

export type StreamSource = ReturnType<typeof startStreamSource>;

export type StreamSourceOptions = {
  readonly plan: StreamSourcePlan;
  readonly region: string;
  readonly target: HostedFunction;
  /** Both clients have the function's own credentials. */
  readonly streams: DynamoDBStreamsClient;
  readonly s3: S3Client;
  readonly gateway: Pick<Gateway, "intercept">;
  readonly delay: Delay;
  /** Saved position of each shard; absent: each start reads the whole stream. */
  readonly kept?: KeptJson;
  readonly now?: () => Date;
  /** Retention of a record, 24 hours by default. */
  readonly retentionSeconds?: number | undefined;
  readonly onMeasured?: NonNullable<BatchRunner["onMeasured"]>;
  readonly onProblem: (message: string) => void;
};

const dayInSeconds = 24 * 60 * 60;
/** Milliseconds between searches for new shards while no shard has ended. */
const discoveryInterval = 10_000;
const writes = [
  "dynamodb:BatchExecuteStatement",
  "dynamodb:BatchWriteItem",
  "dynamodb:DeleteItem",
  "dynamodb:PutItem",
  "dynamodb:TransactWriteItems",
  "dynamodb:UpdateItem",
];

/**
 * Reads a table's stream for a function: each shard in order, children after their parents. Idle readers back
 * off, and a write through the gateway wakes them.
 * Source: Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB".
 */
export function startStreamSource(options: StreamSourceOptions) {
  const { plan, target, streams, s3 } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const readers = new Map<string, ShardReader>();
  const finished = new Set<string>();
  const discovery = createWakeUp();
  const now = options.now ?? (() => new Date());
  const retentionSeconds = options.retentionSeconds ?? dayInSeconds;
  let isFirst = true;
  let isEnabled = true;

  const giveUp = async (shardId: string, given: GivenUp) => {
    const { failureBucket } = plan;
    const count = given.records.length;
    if (failureBucket === undefined) return options.onMeasured?.("DroppedEventCount", count);
    const record = { ...given, shardId, functionArn: target.plan.arn, now: now() };
    try {
      await putInvocationRecord(s3, plan, failureBucket.name, record);
      options.onMeasured?.("OnFailureDestinationDeliveredEventCount", count);
    } catch (error) {
      options.onMeasured?.("DroppedEventCount", count);
      options.onProblem(
        `${plan.logicalId}: ${count} records are lost, the failure destination ${failureBucket.name} did not take them: ${String(error)}`,
      );
    }
  };

  const positions = new Map(
    Object.entries(z.record(z.string(), z.string()).parse(options.kept?.load() ?? {})),
  );
  const open = (shardId: string, startingPosition: "TRIM_HORIZON" | "LATEST"): void => {
    const reader = readShard({
      ...options,
      lastProcessed: positions.get(shardId),
      onProcessed: (sequenceNumber) => {
        positions.set(shardId, sequenceNumber);
        options.kept?.save(Object.fromEntries(positions));
      },
      shardId,
      startingPosition,
      signal,
      now,
      retentionSeconds,
      isEnabled: () => isEnabled,
      giveUp: (given) => giveUp(shardId, given),
    });
    readers.set(shardId, reader);
    void reader.finished.then(() => {
      finished.add(shardId);
      discovery.wake();
    });
  };

  /** Opens unread shards whose parent is fully read or gone. */
  const discover = async (): Promise<void> => {
    const shards = await listShards(streams, plan.streamArn, signal);
    const ids = new Set(shards.map(({ ShardId }) => ShardId));
    for (const { ShardId: id, ParentShardId: parent, SequenceNumberRange: range } of shards) {
      if (id === undefined || readers.has(id)) continue;
      const isClosed = range?.EndingSequenceNumber !== undefined;
      const skips = isFirst && plan.startingPosition === "LATEST";
      if (skips && isClosed) finished.add(id);
      const isReady = parent === undefined || !ids.has(parent) || finished.has(parent);
      if (isReady && !finished.has(id)) open(id, skips ? "LATEST" : "TRIM_HORIZON");
    }
    isFirst = false;
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      try {
        await discover();
        failures = 0;
        await discovery.sleep(discoveryInterval, signal);
      } catch (error) {
        failures += 1;
        if (!signal.aborted) options.onProblem(`${plan.logicalId} (${plan.table.name}): ${String(error)}`);
        await options.delay(Math.min(5_000, 100 * 2 ** failures), signal);
      }
    }
  };

  const wakeAll = (): void => readers.forEach((reader) => void reader.wake());
  const stopListening = options.gateway.intercept(async (call, phase) => {
    if (phase === "after" && isWriteTo(plan.table.arn, call)) wakeAll();
    return undefined;
  });
  const running = run();
  return {
    /** Resolves when everything written before the call is processed or discarded. */
    caughtUp: async (): Promise<void> => {
      await discover();
      await Promise.all([...readers.values()].map((reader) => reader.caughtUp()));
    },
    isEnabled: () => isEnabled,
    /** While disabled, no new batch is handed over; a batch in progress finishes. */
    setEnabled: (enabled: boolean): void => {
      isEnabled = enabled;
      wakeAll();
    },
    close: async (): Promise<void> => {
      stopListening();
      closing.abort();
      await running;
      await Promise.all([...readers.values()].map((reader) => reader.finished));
    },
  };
}

function isWriteTo(tableArn: string, { action, resources }: Call): boolean {
  return writes.includes(action) && resources.includes(tableArn);
}

async function listShards(
  streams: DynamoDBStreamsClient,
  StreamArn: string,
  abortSignal: AbortSignal,
): Promise<Shard[]> {
  const shards: Shard[] = [];
  let last: string | undefined;
  do {
    const page = await streams.send(
      new DescribeStreamCommand({
        StreamArn,
        ...(last !== undefined && { ExclusiveStartShardId: last }),
      }),
      { abortSignal },
    );
    shards.push(...(page.StreamDescription?.Shards ?? []));
    last = page.StreamDescription?.LastEvaluatedShardId;
  } while (last !== undefined);
  return shards;
}
