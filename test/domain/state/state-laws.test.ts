import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { applied, at, eventOf, minute, type Receipt } from "../samples.ts";

const names = ["created", "updated", "connected", "disconnected", "deleted"] as const;
/** The `connected` that an event reports; an account's creation does not report that it is disconnected. */
function claimOf({ type, connected }: IncomeEvent): boolean | undefined {
  if (type === "account.connected") return true;
  if (type === "account.disconnected") return false;
  return type === "account.created" && connected === false ? undefined : connected;
}

const timedEvent = fc
  .record({
    name: fc.constantFrom(...names),
    time: fc.integer({ min: 0, max: 8 }),
    connected: fc.option(fc.boolean(), { nil: undefined }),
  })
  .map(({ name, time, connected }) => {
    const more = connected === undefined || name === "deleted" ? {} : { connected };
    return eventOf(`account.${name}`, { time: minute(time), ...more });
  });
const living = timedEvent.filter(({ type }) => type !== "account.deleted");

/** Whether no two simultaneous events contradict each other. */
function isOrdered(events: readonly IncomeEvent[]): boolean {
  const claims = events.filter((event) => claimOf(event) !== undefined);
  return claims.every((one) =>
    claims.every((other) => one.time !== other.time || claimOf(one) === claimOf(other)),
  );
}

function newestClaim(events: readonly IncomeEvent[]): boolean | undefined {
  const claims = events.filter((event) => claimOf(event) !== undefined);
  const newest = claims.reduce<IncomeEvent | undefined>(
    (known, event) => (known === undefined || (event.time ?? "") > (known.time ?? "") ? event : known),
    undefined,
  );
  return newest && claimOf(newest);
}

/** Counts receipts as the table does: by the event's id. */
function receiptsOf(events: readonly IncomeEvent[]): Receipt[] {
  const counts = new Map<string, number>();
  return events.map((event) => {
    const receipts = (counts.get(event.id) ?? 0) + 1;
    counts.set(event.id, receipts);
    return { event, receipts };
  });
}

function run(receipts: readonly Receipt[], from?: State): State[] {
  const states: State[] = from === undefined ? [] : [from];
  for (const { event, receipts: count } of receipts) {
    const next = applyEvent(states.at(-1), event, count);
    if (next !== undefined) states.push(next);
  }
  return states;
}

describe("events that all have a time", () => {
  const delivered = fc
    .array(living, { minLength: 1, maxLength: 12 })
    .filter(isOrdered)
    .chain((events) =>
      fc.record({
        events: fc.constant(events),
        order: fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
      }),
    );

  it("end in the newest one's state, in any order and with duplicates, without a query", () => {
    fc.assert(
      fc.property(delivered, ({ events, order }) => {
        const states = run(receiptsOf(order));
        expect(states.every(({ unconfirmed }) => !unconfirmed)).toBe(true);
        expect(states.at(-1)?.connected).toBe(newestClaim(events));
        expect(states.at(-1)?.deleted).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it("end deleted if one of them is a deletion, in every later state", () => {
    fc.assert(
      fc.property(fc.array(timedEvent, { minLength: 1, maxLength: 12 }), (events) => {
        const states = run(receiptsOf(events));
        const isDeleting = events.some(({ type }) => type === "account.deleted");
        expect(states.at(-1)?.deleted).toBe(isDeleting);
        const first = states.findIndex(({ deleted }) => deleted);
        if (first >= 0) expect(states.slice(first).every(({ deleted }) => deleted)).toBe(true);
      }),
    );
  });
});

describe("a repeated batch", () => {
  const anyEvent = fc
    .record({ name: fc.constantFrom(...names), time: fc.option(fc.integer({ min: 0, max: 4 })) })
    .map(({ name, time }) => eventOf(`account.${name}`, time === null ? {} : { time: minute(time) }));
  const replay = fc.record({
    receipts: fc.array(anyEvent, { minLength: 1, maxLength: 20 }).map(receiptsOf),
    from: fc.nat(19),
  });

  it("changes nothing by first receipts, within the twenty remembered ones", () => {
    fc.assert(
      fc.property(replay, ({ receipts, from }) => {
        const state = run(receipts).at(-1);
        const again = receipts.slice(from).filter(({ receipts: count }) => count === 1);
        expect(run(again, state)).toEqual([state]);
      }),
      { numRuns: 1000 },
    );
  });

  it("makes at most one more call, if repeated bytes agreed before and contradict now", () => {
    fc.assert(
      fc.property(replay, ({ receipts, from }) => {
        const [state, ...more] = run(receipts.slice(from), run(receipts).at(-1));
        for (const next of more) {
          expect(next).toMatchObject({ unconfirmed: true, latest: { cause: "again" } });
          expect([next.connected, next.deleted]).toEqual([state?.connected, state?.deleted]);
        }
        // Once more: earlier calls are remembered.
        const last = more.at(-1) ?? state;
        if (more.length > 0 && receipts.length + more.length <= 20) {
          expect(run(receipts, last).at(-1)?.unconfirmed).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a deletion and its restoration", () => {
  const steps = fc.array(
    fc.constantFrom("connected", "deleted", "deleted by reconciliation", "restored", "found", "not found"),
    { maxLength: 15 },
  );

  it("leave an account deleted unless it is restored, which is impossible if a webhook reported the deletion", () => {
    fc.assert(
      fc.property(steps, (all) => {
        let state = applied([eventOf("account.connected")]);
        let isReported = false;
        for (const [index, step] of all.entries()) {
          const before = state;
          if (step === "found" || step === "not found") {
            // Confirmed states cause no call, and a 404 without a report is retried.
            if (!state.unconfirmed || (step === "not found" && state.deletionBy === undefined)) continue;
            const answer = { found: step === "found" };
            state = applyProviderAnswer(state, state.version, answer, { at }) ?? state;
            if (step === "found") isReported = false;
          } else {
            const [verb = "", by] = step.split(" by ");
            // Each is a separate event.
            const more = { dateStart: String(index), ...(by && { reconciled: true as const }) };
            const type = verb === "connected" ? "connected" : verb === "restored" ? "restored" : "deleted";
            state = applied([eventOf(`account.${type}`, more)], state);
            isReported ||= step === "deleted";
          }
          if (before.deleted) expect(state.deleted).toBe(step !== "restored" || isReported);
          if (before.deleted && !state.deleted) expect(state.unconfirmed).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
