import { describe, expect, it } from "vitest";
import {
  asOfOf,
  type DeliveredTask,
  isCovered,
  messageDigest,
  planRead,
  timeBefore,
} from "../../../domain/fetch/document.ts";

const now = 1_000_000;
const task = (messageId: string, since = now - 5_000): DeliveredTask => ({
  messageId,
  since,
  firstReceivedAt: now,
});
const documentOf = (asOf: number, ...messageIds: string[]) => ({ asOf, by: messageIds.map(messageDigest) });

describe("a task", () => {
  it.each([
    ["nothing is stored", undefined, false],
    ["the call that is stored did it", documentOf(0, "m1"), true],
    ["the document was read two seconds after its since", documentOf(now - 3_000), true],
    ["the document was read less than two seconds after its since", documentOf(now - 3_001), false],
    ["the document says that it was read two seconds from now", documentOf(now + 2_000), true],
    ["the document says that it was read in the future", documentOf(now + 2_001), false],
    ["the document of the future was read for it", documentOf(now + 2_001, "m1"), true],
  ])("where %s: void is %3$s", (_, document, expected) => {
    expect(isCovered(task("m1"), document, now)).toBe(expected);
  });
});

describe("the time before a call", () => {
  it.each([
    ["DynamoDB's date", now + 1, now + 1],
    ["the last first receive of its tasks", now - 1, now],
  ])("is the latest known one: %s", (_, serviceDate, expected) => {
    expect(timeBefore(serviceDate, [task("m1"), { firstReceivedAt: now - 9 }])).toBe(expected);
  });
});

describe("the asOf of a call", () => {
  it.each([
    ["no call is known", undefined, now],
    ["an older one is known", now - 1_000, now],
    ["the same is known", now, now + 1],
    ["one a little ahead is known", now + 2_000, now + 2_001],
    ["one of the future is known, which counts as none", now + 2_001, now],
  ])("where %s", (_, known, expected) => {
    expect(asOfOf(known, now)).toBe(expected);
  });
});

describe("a planned read", () => {
  const since = (messageId: string, millis: number) => task(messageId, millis);

  it("covers all open tasks of its batch with one call", () => {
    const tasks = [since("old", 0), since("new", now), since("newer", now)];
    const plan = planRead(tasks, documentOf(3_000), { now });
    expect(plan.skipped.map(({ messageId }) => messageId)).toEqual(["old"]);
    expect(plan.covered.map(({ messageId }) => messageId)).toEqual(["new", "newer"]);
    expect(plan).toMatchObject({ known: 3_000, asOf: now, waiting: [], isResumed: false });
    expect(plan.by).toEqual(["new", "newer"].map(messageDigest));
  });

  it("covers all tasks if nothing is stored", () => {
    const tasks = [since("new", now)];
    expect(planRead(tasks, undefined, { now })).toMatchObject({
      known: undefined,
      asOf: now,
      covered: tasks,
    });
  });

  describe("that continues after its saved pages", () => {
    const pages = { asOf: now - 60_000, known: 3_000, by: ["new", "done"].map(messageDigest) };
    const tasks = [since("new", now), since("newer", now)];
    const planWith = (asOf: number, resumed = pages) =>
      planRead(tasks, documentOf(asOf), { pages: resumed, now });

    it("covers what it covered at its first page; tasks that came since wait", () => {
      const resumed = planWith(3_000);
      expect(resumed).toMatchObject({ ...pages, isResumed: true, skipped: [] });
      expect(resumed.covered.map(({ messageId }) => messageId)).toEqual(["new"]);
      expect(resumed.waiting.map(({ messageId }) => messageId)).toEqual(["newer"]);
    });

    it("restarts if another write was faster", () => {
      expect(planWith(3_001)).toMatchObject({ isResumed: false, asOf: now, known: 3_001, waiting: [] });
    });

    it("restarts if no task is left that the pages cover", () => {
      const others = { ...pages, by: [messageDigest("done")] };
      expect(planWith(3_000, others)).toMatchObject({ isResumed: false, asOf: now });
    });
  });
});
