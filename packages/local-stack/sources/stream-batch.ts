import { randomUUID } from "node:crypto";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { StreamSourcePlan } from "../assembly/plan.ts";
import type { Delay } from "../lambda/delay.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { batchResult, failedEvents, type SourceMetricName } from "./batch-response.ts";
import { isOlder, type StreamRecord } from "./stream-record.ts";

export type BatchRunner = {
  readonly plan: StreamSourcePlan;
  readonly target: HostedFunction;
  readonly delay: Delay;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Retention of the stream; records are lost after it, whatever the mapping says. */
  readonly retentionSeconds: number;
  readonly onMeasured?: (name: SourceMetricName, value: number) => void;
  /** Handles discarded records; must not reject. */
  readonly giveUp: (givenUp: GivenUp) => Promise<void>;
};

type Segment = { readonly records: readonly StreamRecord[]; readonly failures: number };

const longestBackOff = 30_000;

/**
 * Processes one batch in order: retries from the lowest reported record on, bisects, and discards records
 * once their retries or age are exhausted. Resolves when nothing is left (or the signal aborts). The rest of
 * a batch that progressed or was split counts as a new batch: its retries and backoff start over.
 * Source: Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB": partial batch responses, retained
 * records; splitting a batch does not count towards the retries.
 */
export async function runStreamBatch(records: readonly StreamRecord[], runner: BatchRunner): Promise<void> {
  const segments: Segment[] = [{ records, failures: 0 }];
  for (let segment = segments.shift(); segment !== undefined; segment = segments.shift()) {
    if (runner.signal.aborted) return;
    segments.unshift(...(await runSegment(segment, runner)));
  }
}

/** Runs records once; returns the remaining ones, in order. */
async function runSegment(segment: Segment, runner: BatchRunner): Promise<Segment[]> {
  const { plan, target } = runner;
  const records = await dropExpired(segment, runner);
  if (records.length === 0) return [];
  const numbers = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
  const last = records.at(-1)?.dynamodb.ApproximateCreationDateTime ?? 0;
  runner.onMeasured?.("IteratorAge", Math.max(0, runner.now().getTime() - last * 1000));
  runner.onMeasured?.("InvokedEventCount", records.length);
  const outcome = await target.invoke(JSON.stringify({ Records: records }));
  if (runner.signal.aborted) return [];
  const result = batchResult(outcome, plan.reportsItemFailures, numbers);
  const failedCount = failedEvents(outcome, result, records.length);
  if (failedCount > 0) runner.onMeasured?.("FailedInvokeEventCount", failedCount);
  if (result.kind === "succeeded") return [];
  if (outcome.kind === "throttled") {
    await runner.delay(backOff(segment.failures), runner.signal);
    return [{ records, failures: segment.failures }];
  }
  const firstFailed =
    result.kind === "partial" ? numbers.findIndex((number) => result.failed.has(number)) : 0;
  const smaller = smallerBatches(records, firstFailed, plan.bisects);
  if (smaller !== undefined) {
    await runner.delay(backOff(0), runner.signal);
    return smaller.map((batch) => ({ records: batch, failures: 0 }));
  }
  const failures = segment.failures + 1;
  if (plan.maximumRetryAttempts >= 0 && failures > plan.maximumRetryAttempts) {
    await runner.giveUp({ records, condition: "RetryAttemptsExhausted", invocations: failures });
    return [];
  }
  await runner.delay(backOff(failures), runner.signal);
  return [{ records, failures }];
}

/** Batches to try next after a failure; undefined to retry the same batch. */
function smallerBatches(
  records: readonly StreamRecord[],
  firstFailed: number,
  bisects: boolean,
): (readonly StreamRecord[])[] | undefined {
  if (firstFailed > 0) return [records.slice(firstFailed)];
  if (!bisects || records.length === 1) return undefined;
  const middle = Math.ceil(records.length / 2);
  return [records.slice(0, middle), records.slice(middle)];
}

/** Discards expired records; returns the others. */
async function dropExpired(segment: Segment, runner: BatchRunner): Promise<readonly StreamRecord[]> {
  const { retentionSeconds, plan } = runner;
  const { maximumRecordAgeSeconds: maximum } = plan;
  const limit = maximum < 0 ? retentionSeconds : Math.min(maximum, retentionSeconds);
  const isExpired = (record: StreamRecord): boolean => isOlder(record, limit, runner.now());
  const expired = segment.records.filter(isExpired);
  if (expired.length === 0) return segment.records;
  await runner.giveUp({ records: expired, condition: "RecordAgeExpired", invocations: segment.failures });
  return segment.records.filter((record) => !isExpired(record));
}

/** 50 ms, doubled with each failure up to half a minute. */
function backOff(failures: number): number {
  return Math.min(longestBackOff, 50 * 2 ** failures);
}

/** Records that are not tried again. */
export type GivenUp = {
  readonly records: readonly StreamRecord[];
  readonly condition: "RetryAttemptsExhausted" | "RecordAgeExpired";
  readonly invocations: number;
};

type Discarded = GivenUp & { readonly shardId: string; readonly functionArn: string; readonly now: Date };

/**
 * Puts the invocation record of a discarded batch into the mapping's bucket, including the whole batch.
 * Source: Lambda developer guide, "Retain discarded records for a DynamoDB event source".
 */
export async function putInvocationRecord(
  s3: S3Client,
  plan: StreamSourcePlan,
  bucket: string,
  discarded: Discarded,
): Promise<void> {
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: objectKey(plan.id, discarded.shardId, discarded.now),
      Body: JSON.stringify(invocationRecord(plan, discarded)),
      ContentType: "application/json",
    }),
  );
}

function objectKey(mappingId: string, shardId: string, now: Date): string {
  const [day = "", time = ""] = now.toISOString().split(/[T.]/);
  const path = day.replaceAll("-", "/");
  return `aws/lambda/${mappingId}/${shardId}/${path}/${day}T${time.replaceAll(":", ".")}-${randomUUID()}`;
}

function invocationRecord(plan: StreamSourcePlan, discarded: Discarded) {
  const { records, shardId, condition, invocations, functionArn, now } = discarded;
  const first = records.at(0)?.dynamodb;
  const last = records.at(-1)?.dynamodb;
  const timestamp = (seconds = 0): string => new Date(seconds * 1000).toISOString();
  return {
    requestContext: { requestId: randomUUID(), functionArn, condition, approximateInvokeCount: invocations },
    ...(invocations > 0 && {
      responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    }),
    version: "1.0",
    timestamp: now.toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: first?.SequenceNumber,
      endSequenceNumber: last?.SequenceNumber,
      approximateArrivalOfFirstRecord: timestamp(first?.ApproximateCreationDateTime),
      approximateArrivalOfLastRecord: timestamp(last?.ApproximateCreationDateTime),
      batchSize: records.length,
      streamArn: plan.streamArn,
    },
    payload: JSON.stringify({ Records: records }),
  };
}
