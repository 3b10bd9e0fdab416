import type { StreamSourcePlan } from "@income-events/local-stack/assembly/plan.ts";
import type { Outcome } from "@income-events/local-stack/lambda/hosted-function.ts";
import { type BatchRunner, runStreamBatch } from "@income-events/local-stack/sources/stream-batch.ts";
import type { StreamRecord } from "@income-events/local-stack/sources/stream-record.ts";
import { describe, expect, test } from "vitest";
import { scripted } from "../lambda/scripted-function.ts";
import { streamPlan } from "./stream-plan.ts";

const now = new Date("2026-11-21T12:00:00Z");

function record(number: string, ageInSeconds = 0): StreamRecord {
  return {
    eventID: number,
    eventName: "INSERT",
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: "eu-central-1",
    dynamodb: {
      ApproximateCreationDateTime: now.getTime() / 1000 - ageInSeconds,
      SequenceNumber: number,
      SizeBytes: 1,
      StreamViewType: "KEYS_ONLY",
    },
    eventSourceARN: "arn",
  };
}

const failed: Outcome = { kind: "failed", error: { errorType: "Error", errorMessage: "no" } };
const succeeded: Outcome = { kind: "returned", payload: "null" };
const reported = (...numbers: string[]): Outcome => ({
  kind: "returned",
  payload: JSON.stringify({ batchItemFailures: numbers.map((itemIdentifier) => ({ itemIdentifier })) }),
});

async function run(
  numbers: string,
  answers: readonly Outcome[] | ((numbers: string) => Outcome),
  settings: Partial<StreamSourcePlan> = {},
  ages: Readonly<Record<string, number>> = {},
) {
  const waits: number[] = [];
  const givenUp: string[] = [];
  const target = scripted(typeof answers === "function" ? (event) => answers(numbersOf(event)) : answers);
  const plan = streamPlan({ maximumRetryAttempts: 2, ...settings });
  const runner: BatchRunner = {
    plan,
    target,
    now: () => now,
    retentionSeconds: 86_400,
    signal: new AbortController().signal,
    delay: async (milliseconds) => {
      waits.push(milliseconds);
    },
    giveUp: async ({ records, condition, invocations }) => {
      givenUp.push(`${records.map(({ eventID }) => eventID).join("")} ${condition} ${invocations}`);
    },
  };
  await runStreamBatch(
    [...numbers].map((number) => record(number, ages[number])),
    runner,
  );
  return { batches: target.events.map(numbersOf), givenUp, waits };
}

function numbersOf(event: string): string {
  const { Records }: { Records: StreamRecord[] } = JSON.parse(event);
  return Records.map(({ eventID }) => eventID).join("");
}

const throttled: Outcome = { kind: "throttled" };

type Case = readonly [
  name: string,
  batch: Parameters<typeof run>,
  expected: Partial<Awaited<ReturnType<typeof run>>>,
];

describe("a batch of a stream", () => {
  test.each<Case>([
    [
      "that fails is retried whole, with growing waits, and given up after its last retry",
      ["abc", [failed]],
      { batches: ["abc", "abc", "abc"], givenUp: ["abc RetryAttemptsExhausted 3"], waits: [100, 200] },
    ],
    [
      "is retried from the lowest reported record on",
      ["abcd", [reported("d", "b"), succeeded]],
      { batches: ["abcd", "bcd"], givenUp: [] },
    ],
    [
      "that gets on is another batch each time: it uses up no retries, and waits no longer than at first",
      ["abcdef", (numbers) => (numbers.length > 1 ? reported(numbers[1] ?? "") : succeeded)],
      { batches: ["abcdef", "bcdef", "cdef", "def", "ef", "f"], givenUp: [], waits: [50, 50, 50, 50, 50] },
    ],
    [
      "with a malformed response is retried whole",
      ["ab", [reported("x"), succeeded]],
      { batches: ["ab", "ab"] },
    ],
    [
      "is halved when it fails, without using up retries, so that a bad record is given up alone",
      ["abcd", (numbers) => (numbers.includes("c") ? failed : succeeded), { bisects: true }],
      { batches: ["abcd", "ab", "cd", "c", "c", "c", "d"], givenUp: ["c RetryAttemptsExhausted 3"] },
    ],
    [
      "is halved after its first record was reported, so that good records behind it get through",
      ["abcd", (numbers) => (numbers.includes("b") ? reported("b") : succeeded), { bisects: true }],
      { batches: ["abcd", "bcd", "bc", "b", "b", "b", "c", "d"], givenUp: ["b RetryAttemptsExhausted 3"] },
    ],
    [
      "gives up records over the maximum age before they are tried",
      ["abc", [succeeded], { maximumRecordAgeSeconds: 60 }, { a: 61, b: 60 }],
      { batches: ["bc"], givenUp: ["a RecordAgeExpired 0"] },
    ],
    [
      "that is throttled keeps its retries",
      ["a", [throttled, throttled, throttled, throttled, succeeded]],
      { batches: ["a", "a", "a", "a", "a"], givenUp: [] },
    ],
    [
      "without limits is retried until the stream would lose it",
      ["a", [...Array<Outcome>(50).fill(failed), succeeded], { maximumRetryAttempts: -1 }],
      { batches: Array(51).fill("a"), givenUp: [] },
    ],
    [
      "that the stream has lost is given up",
      ["a", [succeeded], {}, { a: 86_401 }],
      { givenUp: ["a RecordAgeExpired 0"] },
    ],
  ])("%s", async (_, batch, expected) => {
    expect(await run(...batch)).toMatchObject(expected);
  });
});
