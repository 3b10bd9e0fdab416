import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deletionCandidates,
  deletionEvent,
  isWithinLimit,
  type OrphanMark,
  parseFoundDeletion,
  parseOrphanMark,
  recentDeletions,
  renewMark,
} from "../../../domain/reconcile/orphans.ts";
import { endRun, type Run, startRun } from "../../../domain/reconcile/reconciliation.ts";
import { accountId, applied, at, eventOf, userId } from "../samples.ts";

const later = (hours: number) => new Date(at.getTime() + hours * 3_600_000);
const orphan = { accountId, userId, version: 3 };

const runs = fc.array(
  fc.record({
    isScheduled: fc.boolean(),
    isMissing: fc.boolean(),
    /** Whether an event of the account arrived before the run. */
    isHeard: fc.integer({ min: 0, max: 4 }).map((value) => value === 0),
  }),
  { maxLength: 12 },
);

describe("an account that the provider's lists omit", () => {
  it("is a candidate only if two scheduled runs in a row missed it, and it did not change between them", () => {
    fc.assert(
      fc.property(runs, (all) => {
        let before: Run | undefined;
        let mark: OrphanMark | undefined;
        let version = 1;
        let inRow = 0;
        for (const [index, { isScheduled, isMissing, isHeard }] of all.entries()) {
          const run = startRun(before, later(index), isScheduled);
          if (isHeard) {
            version += 1;
            inRow = 0;
          }
          if (isScheduled) {
            inRow = isMissing ? inRow + 1 : 0;
            // Repeating a step changes nothing.
            const orphanNow = { ...orphan, version };
            if (isMissing) mark = renewMark(renewMark(mark, orphanNow, run), orphanNow, run);
          }
          before = endRun(run, later(index));
          const found = deletionCandidates(mark === undefined ? [] : [mark], [], before);
          if (isScheduled) expect(found).toHaveLength(inRow >= 2 ? 1 : 0);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("is not a candidate again within seven days of its deletion", () => {
    const first = startRun(undefined, at, true);
    const second = endRun(startRun(endRun(first, at), later(24), true), later(25));
    const mark = renewMark(renewMark(undefined, orphan, first), orphan, second);
    const deletion = { ...orphan, decidedAt: at.toISOString() };
    const candidates = (now: Date) => deletionCandidates([mark], recentDeletions([deletion], now), second);
    expect(candidates(later(7 * 24 - 1))).toEqual([]);
    expect(candidates(later(7 * 24))).toEqual([mark]);
  });

  it("can be accepted by an operator before the next run reaches it", () => {
    const first = endRun(startRun(undefined, at, true), at);
    const second = endRun(startRun(first, later(24), true), later(25));
    const mark = renewMark(renewMark(undefined, orphan, first), orphan, second);
    const third = startRun(second, later(48), true);
    const manual = endRun(startRun(second, later(30), false), later(31));
    expect([second, third, manual].map((run) => deletionCandidates([mark], [], run))).toEqual([
      [mark],
      [mark],
      [mark],
    ]);
    expect(deletionCandidates([mark], [], endRun(third, later(49)))).toEqual([]);
  });
});

it.each([
  // candidates, recent, size, percent, atLeast
  [20, 0, 0, 5, 20, true],
  [21, 0, 0, 5, 20, false],
  [21, 0, 419, 5, 20, false],
  [21, 0, 420, 5, 20, true],
  [1, 20, 100, 5, 20, false],
  [50, 50, 2000, 5, 20, true],
  [1, 0, 1_000_000, 0, 0, false],
])("%i candidates and %i recent deletions of %i accounts, at %i %% and %i: %s", (...row) => {
  const [candidates, recent, sizeBefore, percent, atLeast, expected] = row;
  const run = { ...startRun(undefined, at, true), sizeBefore };
  expect(isWithinLimit(candidates, recent, run, { percent, atLeast })).toBe(expected);
});

describe("the event of a deletion", () => {
  it("is the same until the account's state changes, and differs from that of its restoration", () => {
    const state = applied([eventOf("account.connected", { userId })]);
    const deleted = deletionEvent("account.deleted", state);
    expect(deleted).toMatchObject({
      kind: "accounts",
      facts: { type: "account.deleted", accountId, userId },
    });
    expect(deletionEvent("account.deleted", state).id).toBe(deleted.id);
    expect(deletionEvent("account.deleted", { ...state, version: 9 }).id).not.toBe(deleted.id);
    expect(deletionEvent("account.restored", state).id).not.toBe(deleted.id);
  });
});

it("the stored list is parsed as it was written, and refused by the name of an invalid field", () => {
  const mark = { ...orphan, first: later(1).toISOString(), lastRun: later(2).toISOString() };
  const decided = { ...orphan, decidedAt: later(1).toISOString() };
  expect(parseOrphanMark(mark)).toEqual(mark);
  for (const deletion of [decided, { ...decided, reportedAt: later(2).toISOString() }])
    expect(parseFoundDeletion(deletion)).toEqual(deletion);
  expect(() => parseOrphanMark({ ...mark, version: "3" })).toThrow("version: expected");
  expect(() => parseFoundDeletion(mark)).toThrow("decidedAt: expected");
});
