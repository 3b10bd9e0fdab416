import type { StreamSourcePlan } from "../assembly/plan.ts";
import type { Delay } from "../lambda/delay.ts";
import type { HostedFunction } from "../lambda/hosted-function.ts";
import { batchResult } from "./batch-response.ts";
import type { GivenUp } from "./failure-destination.ts";
import type { StreamRecord } from "./stream-record.ts";

export type BatchRunner = {
  readonly plan: StreamSourcePlan;
  readonly target: HostedFunction;
  readonly delay: Delay;
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Takes what is given up; it must not reject. */
  readonly giveUp: (givenUp: Omit<GivenUp, "shardId" | "functionArn" | "now">) => Promise<void>;
};

/** Records that are retried together. */
type Segment = { readonly records: readonly StreamRecord[]; readonly failures: number };

/** A stream keeps its records for a day; then they are lost, whatever the mapping says. */
const retentionSeconds = 24 * 60 * 60;
const longestBackOff = 30_000;

/**
 * Has one batch processed, in order: retried from the lowest reported record on, bisected, and given up when its
 * retries or its age are used up. Resolves when nothing of it is left (or the signal aborts).
 * Source: Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB": partial batch responses, retained
 * records; bisecting does not use up retries.
 */
export async function runStreamBatch(records: readonly StreamRecord[], runner: BatchRunner): Promise<void> {
  const segments: Segment[] = [{ records, failures: 0 }];
  for (let segment = segments.shift(); segment !== undefined; segment = segments.shift()) {
    if (runner.signal.aborted) return;
    segments.unshift(...(await runSegment(segment, runner)));
  }
}

/** Runs records once; answers what is left of them, in order. */
async function runSegment(segment: Segment, runner: BatchRunner): Promise<Segment[]> {
  const { plan, target } = runner;
  const records = await dropExpired(segment, runner);
  if (records.length === 0) return [];
  const numbers = records.map(({ dynamodb }) => dynamodb.SequenceNumber);
  const outcome = await target.invoke(JSON.stringify({ Records: records }));
  if (runner.signal.aborted) return [];
  const result = batchResult(outcome, plan.reportsItemFailures, numbers);
  if (result.kind === "succeeded") return [];
  if (outcome.kind === "throttled") {
    await runner.delay(backOff(segment.failures), runner.signal);
    return [{ records, failures: segment.failures }];
  }
  const firstFailed =
    result.kind === "partial" ? numbers.findIndex((number) => result.failed.has(number)) : 0;
  const left = records.slice(firstFailed);
  const canBisect = plan.bisects && firstFailed === 0 && left.length > 1;
  if (canBisect) {
    await runner.delay(backOff(segment.failures), runner.signal);
    return halves(left, segment.failures);
  }
  const failures = segment.failures + 1;
  if (plan.maximumRetryAttempts >= 0 && failures > plan.maximumRetryAttempts) {
    await runner.giveUp({ records: left, condition: "RetryAttemptsExhausted", invocations: failures });
    return [];
  }
  await runner.delay(backOff(failures), runner.signal);
  return [{ records: left, failures }];
}

function halves(records: readonly StreamRecord[], failures: number): Segment[] {
  const middle = Math.ceil(records.length / 2);
  return [
    { records: records.slice(0, middle), failures },
    { records: records.slice(middle), failures },
  ];
}

/** Gives up records that are too old; answers the others. */
async function dropExpired(segment: Segment, runner: BatchRunner): Promise<readonly StreamRecord[]> {
  const { maximumRecordAgeSeconds: maximum } = runner.plan;
  const limit = maximum < 0 ? retentionSeconds : Math.min(maximum, retentionSeconds);
  const oldest = runner.now().getTime() / 1000 - limit;
  const isExpired = (record: StreamRecord): boolean => record.dynamodb.ApproximateCreationDateTime < oldest;
  const expired = segment.records.filter(isExpired);
  if (expired.length === 0) return segment.records;
  await runner.giveUp({ records: expired, condition: "RecordAgeExpired", invocations: segment.failures });
  return segment.records.filter((record) => !isExpired(record));
}

/** 50 ms, doubled with each failure up to half a minute. */
function backOff(failures: number): number {
  return Math.min(longestBackOff, 50 * 2 ** failures);
}
