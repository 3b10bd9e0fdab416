import type { SQSRecord } from "aws-lambda";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Failure,
  laterRelease,
  notReady,
  retryable,
  unreachable,
  waiting,
} from "../../../domain/core/failures.ts";
import { documentTask, giveUpLimits, writeTask } from "../../../domain/fetch/task.ts";
import type { FetcherDependencies } from "../../../functions/fetch/fetch-document.ts";
import { CountdownLatch, decideRetry } from "../../../functions/fetch/fetcher.ts";
import { sqsEvent } from "../support/lambda.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const day = 86_400;
const settings: FetcherDependencies["retrying"] = {
  retry: { baseSeconds: 2, maxSeconds: 900 },
  limits: giveUpLimits(14 * day),
  longestOutageSeconds: 72 * 3_600,
};
const cause = { cause: "e.1", correlationId: "e" };
const task = documentTask({ kind: "account", id: "a" }, { endpoint: "income" }, 1, cause);

type Given = { readonly receives?: number; readonly random?: number; readonly ageInSeconds?: number };

function recordOf(receives: number, ageInSeconds: number): SQSRecord {
  const message = { MessageId: "m-1", ReceiptHandle: "handle", Body: writeTask(task) };
  const [record] = sqsEvent([message], { receives }).Records;
  if (record === undefined) throw new Error("no record");
  const SentTimestamp = String(now - ageInSeconds * 1000);
  return { ...record, attributes: { ...record.attributes, SentTimestamp } };
}

function decisionOn(failure: Failure, { receives = 1, random = 0.5, ageInSeconds = 0 }: Given = {}) {
  return decideRetry({ record: recordOf(receives, ageInSeconds), failure }, settings, now, random);
}
function secondsOn(failure: Failure, given: Given = {}): number {
  const decision = decisionOn(failure, given);
  if (decision.type !== "postpone") throw new Error(decision.reason);
  return decision.seconds;
}

const failed = retryable("the provider answered 503").failure;
const down = unreachable("the provider is down", 100, 200).failure;
const noToken = waiting("no token is set", 60).failure;

describe("a task that failed", () => {
  it("stays invisible in its queue, with the reason and its subject", () => {
    expect(decisionOn(failed)).toEqual({
      type: "postpone",
      record: recordOf(1, 0),
      seconds: 3,
      reason: "the provider answered 503",
      correlationId: "e",
    });
  });

  it("is hidden for as long as what it waits for needs, and then at random up to its spread", () => {
    expect(secondsOn(down, { random: 0 })).toBe(100);
    expect(secondsOn(down, { random: 1 })).toBe(300);
    expect(secondsOn(noToken, { random: 0.5 })).toBe(90);
  });

  it("is invisible for exactly as long as the wait is known to take", () => {
    const pages = waiting("more pages are left", 0).failure;
    const written = waiting("the document was written by another call", 2, 0).failure;
    for (const receives of [1, 500]) {
      expect(secondsOn(pages, { receives })).toBe(1);
      expect(secondsOn(written, { receives })).toBe(2);
      expect(secondsOn(laterRelease("too new").failure, { receives })).toBe(60);
    }
  });

  it("is invisible longer with each receive if it waits for a token, the rate or the provider", () => {
    const rate = waiting("the provider's rate is used up", 1, 20).failure;
    expect(secondsOn(down, { receives: 10, random: 0 })).toBe(900);
    for (const failure of [noToken, rate]) {
      expect(secondsOn(failure, { receives: 11, random: 1 })).toBe(450);
      expect(secondsOn(failure, { receives: 22, random: 0 })).toBe(900);
    }
  });
});

describe("a task for which the provider is not ready", () => {
  const unready = (seconds?: number) => notReady("the provider answered 202: not ready", seconds).failure;

  it("waits for as long as requested, never less, and hardly longer", () => {
    for (const receives of [1, 10, 20]) {
      expect(secondsOn(unready(1.5), { receives, random: 0 })).toBe(2);
      expect(secondsOn(unready(64), { receives, random: 0 })).toBe(64);
      expect(secondsOn(unready(64), { receives, random: 1 })).toBe(68);
    }
    const hours = 11 * 3_600;
    expect(secondsOn(unready(hours), { receives: 500, random: 0 })).toBe(hours);
    // SQS's maximum visibility timeout is 12 hours.
    expect(secondsOn(unready(hours), { random: 1 })).toBeLessThan(12 * 3_600 - 60);
  });

  it("does not use up its receives if short waits are requested repeatedly", () => {
    expect(secondsOn(unready(1), { receives: 21, random: 0 })).toBe(900);
    let [seconds, receives] = [0, 1];
    for (; seconds < 240 * 3_600; receives += 1) seconds += secondsOn(unready(1), { receives });
    expect(receives).toBeLessThan(settings.limits.maxReceives);
  });

  it("is given up after the longest outage, with the reason, and no earlier", () => {
    const hours = 72 * 3_600;
    expect(decisionOn(unready(60), { ageInSeconds: hours - 1, receives: 500 })).toMatchObject({
      type: "postpone",
    });
    expect(decisionOn(unready(60), { ageInSeconds: hours })).toMatchObject({
      type: "give up",
      reason: "the provider answered 202: not ready; given up after 72 hours; see fetch.longestOutageHours",
    });
    expect(decisionOn(failed, { ageInSeconds: hours })).toMatchObject({ type: "postpone" });
  });
});

describe("a backlog that waits for the rate", () => {
  /**
   * Simulates tasks that arrive at once, with one call per second, in their own order.
   * @returns seconds until the last is done
   */
  function secondsFor(tasks: number): number {
    const random = randomNumbers();
    const left = Array.from({ length: tasks }, () => ({ at: 0, receives: 0 }));
    let [freeAt, last] = [0, 0];
    while (left.length > 0) {
      const next = left.reduce((one, other) => (other.at < one.at ? other : one));
      next.receives += 1;
      if (freeAt > next.at) {
        const failure = waitingForRate(freeAt - next.at);
        next.at += secondsOn(failure, { receives: next.receives, random: random() });
      } else {
        left.splice(left.indexOf(next), 1);
        last = next.at;
        freeAt = next.at + 1;
      }
    }
    return last;
  }
  const waitingForRate = (seconds: number) =>
    waiting("the provider's rate is used up", Math.ceil(seconds), 60).failure;

  it("is processed in less than twice the minimum time for the rate", () => {
    expect(secondsFor(1_000)).toBeLessThan(2_000);
  });
});

/** Repeatable random numbers from 0 to 1. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe("the limits", () => {
  const retryables = fc.oneof(
    fc.nat(100_000).map((delay) => retryable("x", delay).failure),
    fc
      .tuple(fc.nat(600), fc.integer({ min: 1, max: 600 }))
      .map(([delay, spread]) => unreachable("x", delay, spread).failure),
    fc
      .tuple(fc.nat(60), fc.integer({ min: 1, max: 60 }))
      .map(([delay, spread]) => waiting("x", delay, spread).failure),
  );
  const random = fc.double({ min: 0, max: 1, noNaN: true });

  it("reject nothing early, and set visibility timeouts of whole seconds that SQS accepts and the failure requires", () => {
    const received = fc.record({
      receives: fc.integer({ min: 1, max: 989 }),
      ageInSeconds: fc.nat(13 * day - 1),
      random,
    });
    fc.assert(
      fc.property(retryables, received, (failure, given) => {
        const seconds = secondsOn(failure, given);
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(900);
        // Jitter shortens the longest waits.
        const asked = failure.type === "retryable" ? failure.delayInSeconds : 0;
        expect(seconds).toBeGreaterThanOrEqual(Math.min(885, asked));
      }),
    );
  });
});

/** Callers of one latch, and the released ones in order. */
function latchOf(count: number) {
  const released: number[] = [];
  const latch = new CountdownLatch(Array.from({ length: count }, (_, caller) => caller));
  const wait = (caller: number, maxMillis = 3_600_000) =>
    latch.wait(caller, maxMillis).then(() => released.push(caller));
  return { released, wait, countDown: (caller: number) => latch.countDown(caller) };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a countdown latch", () => {
  it("holds callers until all of them wait", async () => {
    const { released, wait } = latchOf(3);
    const early = [wait(2), wait(0)];
    await turn();
    expect(released).toEqual([]);
    await Promise.all([...early, wait(1)]);
    expect(released).toEqual([2, 0, 1]);
  });

  it("does not wait for a caller that counted down", async () => {
    const { released, wait, countDown } = latchOf(2);
    const held = wait(0);
    countDown(1);
    await held;
    expect(released).toEqual([0]);
  });

  it("does not hold a single caller", async () => {
    const { released, wait } = latchOf(1);
    await wait(0);
    expect(released).toEqual([0]);
  });

  it("holds callers for the maximum time only; a slower one then waits for nobody", async () => {
    const { released, wait } = latchOf(3);
    await Promise.all([wait(0, 0), wait(1, 0)]);
    expect(released).toEqual([0, 1]);
    await wait(2);
    expect(released).toEqual([0, 1, 2]);
  });
});
