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

describe("a batch of a stream", () => {
  test("that fails is retried whole, with growing waits, and given up after its last retry", async () => {
    expect(await run("abc", [failed])).toEqual({
      batches: ["abc", "abc", "abc"],
      givenUp: ["abc RetryAttemptsExhausted 3"],
      waits: [100, 200],
    });
  });

  test("is retried from the lowest reported record on", async () => {
    const { batches, givenUp } = await run("abcd", [reported("d", "b"), succeeded]);
    expect(batches).toEqual(["abcd", "bcd"]);
    expect(givenUp).toEqual([]);
  });

  test("that gets on is another batch each time: it uses up no retries, and waits no longer than at first", async () => {
    const { batches, givenUp, waits } = await run("abcdef", (numbers) =>
      numbers.length > 1 ? reported(numbers[1] ?? "") : succeeded,
    );
    expect(batches).toEqual(["abcdef", "bcdef", "cdef", "def", "ef", "f"]);
    expect(givenUp).toEqual([]);
    expect(waits).toEqual([50, 50, 50, 50, 50]);
  });

  test("with a malformed response is retried whole", async () => {
    expect((await run("ab", [reported("x"), succeeded])).batches).toEqual(["ab", "ab"]);
  });

  test("is halved when it fails, without using up retries, so that a bad record is given up alone", async () => {
    const { batches, givenUp } = await run(
      "abcd",
      (numbers) => (numbers.includes("c") ? failed : succeeded),
      {
        bisects: true,
      },
    );
    expect(batches).toEqual(["abcd", "ab", "cd", "c", "c", "c", "d"]);
    expect(givenUp).toEqual(["c RetryAttemptsExhausted 3"]);
  });

  test("is halved after its first record was reported, so that good records behind it get through", async () => {
    const { batches, givenUp } = await run(
      "abcd",
      (numbers) => (numbers.includes("b") ? reported("b") : succeeded),
      { bisects: true },
    );
    expect(batches).toEqual(["abcd", "bcd", "bc", "b", "b", "b", "c", "d"]);
    expect(givenUp).toEqual(["b RetryAttemptsExhausted 3"]);
  });

  test("gives up records over the maximum age before they are tried", async () => {
    const { batches, givenUp } = await run(
      "abc",
      [succeeded],
      { maximumRecordAgeSeconds: 60 },
      { a: 61, b: 60 },
    );
    expect(batches).toEqual(["bc"]);
    expect(givenUp).toEqual(["a RecordAgeExpired 0"]);
  });

  test("without limits is retried until the stream would lose it", async () => {
    let calls = 0;
    const { givenUp } = await run(
      "a",
      () => {
        calls += 1;
        return calls < 50 ? failed : succeeded;
      },
      { maximumRetryAttempts: -1 },
    );
    expect(calls).toBe(50);
    expect(givenUp).toEqual([]);
    expect((await run("a", [succeeded], {}, { a: 86_401 })).givenUp).toEqual(["a RecordAgeExpired 0"]);
  });

  test("that is throttled keeps its retries", async () => {
    const throttled: Outcome = { kind: "throttled" };
    const { batches, givenUp } = await run("a", [throttled, throttled, throttled, throttled, succeeded]);
    expect(batches).toHaveLength(5);
    expect(givenUp).toEqual([]);
  });
});
