import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Failure,
  laterRelease,
  permanent,
  retryable,
  unreachable,
  waiting,
} from "../../../domain/core/failures.ts";
import { readTask, readTaskText, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import { decideRetry, type RetryDecisionSettings } from "../../../functions/fetch/retry-decision.ts";
import { sqsEvent } from "../support/lambda.ts";

const now = new Date("2026-11-21T12:00:00Z");
const settings: RetryDecisionSettings = {
  retry: { baseSeconds: 2, maxSeconds: 900 },
  longestOutageHours: 72,
  maxReceiveCount: 5,
};
const task = readTask({ kind: "account", id: "a" }, { endpoint: "income" }, 1);
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);

type Given = { readonly task?: Task; readonly receives?: number; readonly random?: number };

function decisionOn(failure: Failure, { task: given = task, receives = 1, random = 0.5 }: Given = {}) {
  const message = { MessageId: "m-1", ReceiptHandle: "handle", Body: writeTask(given) };
  const [record] = sqsEvent([message], { receives, firstReceivedAt: now }).Records;
  if (record === undefined) throw new Error("no record");
  return decideRetry({ record, failure }, settings, now, random);
}

const failed = retryable("the provider answered 503").failure;
const down = unreachable("the provider is down", 100, 200).failure;
const noToken = waiting("no token is set", 60).failure;

describe("a short wait", () => {
  it("hides the message", () => {
    expect(decisionOn(failed)).toEqual({
      do: "hide",
      messageId: "m-1",
      receiptHandle: "handle",
      seconds: 1,
      reason: "the provider answered 503",
    });
    expect(decisionOn(waiting("the provider's rate is used up", 0.4, 60).failure)).toMatchObject({
      do: "hide",
      seconds: 31,
    });
  });

  it("doubles with each receive", () => {
    expect(decisionOn(failed, { random: 1, receives: 2 })).toMatchObject({ do: "hide", seconds: 4 });
  });

  it("sends the task again where its receives would come to an end: waiting never leads to a dead letter", () => {
    for (const receives of [3, 4, 5]) {
      expect(decisionOn(noToken, { random: 0, receives })).toMatchObject({ do: "send again", seconds: 60 });
    }
  });
});

it("a task that was done in part is sent again as what is left of it, however short the wait", () => {
  const progress = { noted: 1, from: { next: "c", pages: 3, mark: "m" }, kept: "k" };
  const instead = JSON.stringify({ ...task, progress });
  const rest = { ...task, progress };
  const inPart = { kind: "retryable", reason: "x", delayInSeconds: 0, instead } as const;
  expect(decisionOn(inPart)).toMatchObject({
    do: "send again",
    task: { ...rest, attempts: 1, since: now.toISOString() },
  });
  expect(decisionOn({ ...inPart, waitsFor: "permit", spreadInSeconds: 0 })).toEqual({
    do: "send again",
    messageId: "m-1",
    reason: "x",
    seconds: 1,
    task: rest,
  });
});

it("what is sent in a task's place says how often it was redriven, whatever becomes of it", () => {
  const MessageAttributes = { returns: { DataType: "String", StringValue: "2 run" } };
  const message = { MessageId: "m-1", ReceiptHandle: "handle", Body: writeTask(task), MessageAttributes };
  const [record] = sqsEvent([message], { receives: 5, firstReceivedAt: hoursAgo(99) }).Records;
  if (record === undefined) throw new Error("no record");
  for (const failure of [failed, permanent("x").failure, down, noToken]) {
    expect(decideRetry({ record, failure }, settings, now, 0.5)).toMatchObject({ returns: "2 run" });
  }
});

it("a message of a later release is hidden as it is, until its receives come to an end", () => {
  const message = { MessageId: "m-1", ReceiptHandle: "handle", Body: '{"schemaVersion":3}' };
  const judged = [1, 4, 5].map((receives) => {
    const [record] = sqsEvent([message], { receives }).Records;
    if (record === undefined) throw new Error("no record");
    return decideRetry({ record, failure: laterRelease("too new").failure }, settings, now, 0.5);
  });
  const common = { messageId: "m-1", reason: "too new" };
  expect(judged).toEqual([
    { ...common, do: "hide", receiptHandle: "handle", seconds: 60 },
    { ...common, do: "hide", receiptHandle: "handle", seconds: 60 },
    { ...common, do: "give up", body: '{"schemaVersion":3}' },
  ]);
});

describe("a long wait", () => {
  it("sends the task again, a minute being the longest that is hidden", () => {
    expect(decisionOn(noToken, { random: 0 })).toMatchObject({ do: "hide", seconds: 60 });
    expect(decisionOn(noToken, { random: 0.01 })).toMatchObject({ do: "send again", seconds: 61 });
  });

  it("counts the attempt that failed, and notes since when the provider fails", () => {
    const again = { ...task, attempts: 1, since: now.toISOString() };
    expect(decisionOn(retryable("x", 100).failure)).toMatchObject({ do: "send again", task: again });
    const later = { ...again, since: hoursAgo(5).toISOString() };
    expect(decisionOn(failed, { task: { ...later, attempts: 9 } })).toMatchObject({
      task: { attempts: 10, since: later.since },
    });
  });

  it("for a provider that is down counts no attempt, but the time", () => {
    expect(decisionOn(down)).toMatchObject({
      do: "send again",
      seconds: 200,
      task: { attempts: 0, since: now.toISOString() },
    });
  });

  it("for a token or the rate counts neither, and ends an outage", () => {
    const failing = { ...task, attempts: 4, since: hoursAgo(100).toISOString() };
    const given = decisionOn(noToken, { task: failing });
    expect(given).toMatchObject({ do: "send again", task: { attempts: 4 } });
    expect(given).not.toHaveProperty("task.since");
  });
});

describe("the longest outage", () => {
  it.each([failed, down])("gives the task up at its end, to start over when it is redriven", (failure) => {
    const failing = { ...task, attempts: 80, since: hoursAgo(72).toISOString() };
    const given = decisionOn(failure, { task: failing });
    expect(given).toMatchObject({
      do: "give up",
      reason: `${failure.reason}; given up after 72 hours, see fetch.longestOutageHours`,
    });
    expect(given.do === "give up" && readTaskText(given.body)).toEqual(task);
  });

  it("gives nothing up within it, whatever fails and however often", () => {
    const failures = fc.oneof(
      fc.record({ delay: fc.nat(100_000) }).map(({ delay }) => retryable("x", delay).failure),
      fc
        .record({ delay: fc.nat(100_000), spread: fc.nat(2_000) })
        .map(({ delay, spread }) => unreachable("x", delay, spread).failure),
      fc.nat(100_000).map((delay) => waiting("x", delay).failure),
    );
    fc.assert(
      fc.property(
        failures,
        fc.record({ attempts: fc.nat(100_000), hours: fc.double({ min: 0, max: 71.99, noNaN: true }) }),
        fc.record({
          receives: fc.integer({ min: 1, max: 5 }),
          random: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        (failure, { attempts, hours }, { receives, random }) => {
          const failing = { ...task, attempts, since: hoursAgo(hours).toISOString() };
          const given = decisionOn(failure, { task: failing, receives, random });
          expect(given.do).not.toBe("give up");
          if (given.do === "give up") return;
          expect(Number.isInteger(given.seconds)).toBe(true);
          expect(given.seconds).toBeGreaterThanOrEqual(1);
          expect(given.seconds).toBeLessThanOrEqual(900);
          expect(given.seconds).toBeGreaterThanOrEqual(
            Math.min(900, failure.kind === "retryable" ? failure.delayInSeconds : 0),
          );
        },
      ),
    );
  });
});

it("a permanent failure is given up at once, as it came", () => {
  expect(
    decisionOn(permanent("the provider answered 400").failure, { task: { ...task, attempts: 3 } }),
  ).toEqual({
    do: "give up",
    messageId: "m-1",
    body: writeTask({ ...task, attempts: 3 }),
    reason: "the provider answered 400",
  });
});
