import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Attributes, IncomeEvent } from "../../../domain/event/events.ts";
import { applyEvent, applyProviderAnswer, parseState, type State } from "../../../domain/state/state.ts";
import { at, eventOf, minute, userId } from "../samples.ts";

type Step = { readonly event: IncomeEvent; readonly receipts: number; readonly since: number };

function userEvent(name: "created" | "updated" | "deleted", more: Partial<IncomeEvent> = {}): IncomeEvent {
  const { accountId: _, ...event } = eventOf(`user.${name}`, more);
  return { ...event, kind: "users", userId };
}

const values: fc.Arbitrary<Attributes> = fc.constantFrom(
  {},
  { loanId: "A" },
  { loanId: "B" },
  { agent: "A" },
);
const timed = (time: fc.Arbitrary<number | undefined>) =>
  fc.record({ attributes: fc.option(values, { nil: undefined }), time }).map(({ attributes, time: moment }) =>
    userEvent("updated", {
      ...(attributes && { attributes }),
      ...(moment !== undefined && { time: minute(moment) }),
    }),
  );
const step = fc
  .record({
    event: fc.oneof(
      { weight: 4, arbitrary: timed(fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined })) },
      { weight: 1, arbitrary: values.map((attributes) => userEvent("created", { attributes })) },
    ),
    receipts: fc.constantFrom(1, 1, 2, 3),
    since: fc.integer({ min: 1, max: 50 }),
  })
  .map((each): Step => each);

function run(steps: readonly Step[], asksForUsers: boolean): readonly State[] {
  const states: State[] = [];
  for (const { event, receipts, since } of steps) {
    const next = applyEvent(states.at(-1), event, receipts, { since, asksForUsers });
    if (next !== undefined) states.push(parseState(JSON.parse(JSON.stringify(next))));
  }
  return states;
}

const last = (states: readonly State[]) => states.at(-1)?.attributes;

describe("a user's attributes", () => {
  it("have the version of the state that set them: of two the higher one is the newer", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, asks) => {
        let before: State | undefined;
        for (const state of run(steps, asks)) {
          const [one, other] = [before?.attributes, state.attributes];
          const isChanged = JSON.stringify(one?.values) !== JSON.stringify(other?.values);
          expect(other?.version).toBe(isChanged ? state.version : one?.version);
          before = state;
        }
      }),
    );
  });

  it("are those of the newest time, in whatever order their events come and however often", () => {
    const updates = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 9 }), values), {
      minLength: 1,
      selector: ([time]) => time,
    });
    const steps = updates.map((list) =>
      list.map(([time, attributes]) => userEvent("updated", { time: minute(time), attributes })),
    );
    const histories = steps.chain((events) =>
      fc.tuple(
        fc.constant(events.reduce((one, other) => ((other.time ?? "") > (one.time ?? "") ? other : one))),
        fc.shuffledSubarray([...events, ...events], { minLength: 2 * events.length }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 18, maxLength: 18 }),
      ),
    );
    fc.assert(
      fc.property(histories, ([newest, events, sent]) => {
        const states = run(
          events.map((event, index) => ({ event, receipts: 1, since: sent[index] ?? 1 })),
          true,
        );
        expect(last(states)?.values).toEqual(newest.attributes);
        expect(states.every(({ unconfirmed }) => !unconfirmed)).toBe(true);
      }),
    );
  });

  it("are never replaced by the user's creation once an update reported them", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), values, fc.boolean(), (steps, attributes, asks) => {
        const states = run(steps, asks);
        const known = last(states);
        const late = {
          event: userEvent("created", { attributes, time: minute(59) }),
          receipts: 1,
          since: 99,
        };
        const after = run([...steps, late], asks);
        if (known !== undefined && known.isCreation !== true) expect(last(after)).toEqual(known);
      }),
    );
  });

  it("are unchanged if an event has none, and emptied by an empty object", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, asks) => {
        const more = (event: IncomeEvent) => [...steps, { event, receipts: 1, since: 99 }];
        expect(last(run(more(userEvent("updated", { eventId: "last" })), asks))).toEqual(
          last(run(steps, asks)),
        );
        const emptied = userEvent("updated", { eventId: "last", attributes: {} });
        expect(last(run(more(emptied), asks))?.values).toEqual({});
      }),
    );
  });

  it("are the last sent if no time orders them and no call can be made, equal bytes included", () => {
    const updates = fc.array(fc.tuple(values, fc.constantFrom(1, 2, 3)), { minLength: 1, maxLength: 9 });
    const numbered = updates.map((list) => list.map((each, index) => [...each, index + 1] as const));
    const shuffled = numbered.chain((list) => fc.shuffledSubarray([...list], { minLength: list.length }));
    fc.assert(
      fc.property(shuffled, (updates) => {
        const steps = updates.map(([attributes, _, since]) => {
          return { event: userEvent("updated", { attributes }), receipts: since, since };
        });
        const states = run(steps, false);
        const newest = steps.find(({ since }) => since === steps.length);
        expect(last(states)?.values).toEqual(newest?.event.attributes);
        expect(states.every(({ unconfirmed }) => !unconfirmed)).toBe(true);
      }),
    );
  });

  it("are the provider's answer if no time orders them, equal bytes included", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), values, (steps, attributes) => {
        const before = run(steps, true).at(-1);
        if (before?.unconfirmed !== true) return;
        const asked = { found: true, attributes } as const;
        const after = applyProviderAnswer(before, before.version, asked, { at });
        expect(after).toMatchObject({ unconfirmed: false, attributes: { values: attributes } });
        // The answer has no attributes, so the last report stays.
        const silent = applyProviderAnswer(before, before.version, { found: true }, { at });
        expect(silent?.attributes).toEqual(before.attributes);
      }),
    );
    const [one, other] = [{ loanId: "A" }, { loanId: "B" }].map((attributes) =>
      userEvent("updated", { attributes }),
    );
    if (one === undefined || other === undefined) throw new Error("no events");
    const twice = [
      { event: one, receipts: 1, since: 1 },
      { event: other, receipts: 1, since: 2 },
      { event: one, receipts: 2, since: 3 },
    ];
    expect(run(twice, true).map(({ unconfirmed }) => unconfirmed)).toEqual([false, true, true]);
  });

  it("are asked for again while an answer is awaited, even if a report says what is known", () => {
    const report = (loanId: string, since: number, more = {}) => {
      return { event: userEvent("updated", { attributes: { loanId }, ...more }), receipts: 1, since };
    };
    const states = run([report("A", 1), report("B", 2), report("A", 3, { time: minute(3) })], true);
    expect(states.map(({ unconfirmed }) => unconfirmed)).toEqual([false, true, true]);
  });

  it("stay what they were when the user is deleted, and are not in the last event of the state", () => {
    const [created, deleted] = run(
      [
        { event: userEvent("created", { attributes: { loanId: "A" } }), receipts: 1, since: 1 },
        { event: userEvent("deleted", { eventId: "1" }), receipts: 1, since: 2 },
        { event: userEvent("updated", { eventId: "2", attributes: {} }), receipts: 1, since: 3 },
      ],
      true,
    );
    expect(deleted).toMatchObject({ deleted: true, attributes: { values: { loanId: "A" }, version: 1 } });
    expect(JSON.stringify(created?.latest)).not.toContain("loanId");
  });
});
