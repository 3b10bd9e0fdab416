import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { type Answer, applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { at, eventOf, minute, type Receipt } from "../samples.ts";

const settings = { source: "urn:test", readByRange: [], documentsUrl: "https://reads.example/" };

/** An interleaving: each delivery is drawn from the pending ones. */
const choices = fc.infiniteStream(fc.nat());
const pick = <T>(list: T[], random: Iterator<number>): T | undefined =>
  list.splice((random.next().value ?? 0) % Math.max(1, list.length), 1)[0];

/** The provider's state. Each change is an event; there are few shapes, so that bytes repeat. */
type Truth = { connected: boolean; deleted: boolean };
type Step = "create" | "connect" | "disconnect" | "update" | "delete";

function eventAfter(step: Step, truth: Truth, time: string | undefined): IncomeEvent {
  const more = time === undefined ? {} : { time };
  switch (step) {
    case "create":
      return eventOf("account.created", { connected: false, ...more });
    case "connect":
      return eventOf("account.connected", more);
    case "disconnect":
      return eventOf("account.disconnected", more);
    case "update":
      return eventOf("account.updated", { connected: truth.connected, ...more });
    case "delete":
      return eventOf("account.deleted", more);
  }
}

function change(truth: Truth, step: Step): void {
  if (step === "connect") truth.connected = true;
  if (step === "disconnect") truth.connected = false;
  if (step === "delete") truth.deleted = true;
}

type Pending = { readonly version: number; answer?: Answer };

/**
 * A small relay, fetch queue and provider. Every action is one step of an interleaving: the state changes, an
 * event (or its retry) is delivered, a call gets the current state as its answer, an answer arrives (possibly
 * late), a call is lost and retried, the stream redelivers its last records.
 */
class Simulation {
  readonly truth: Truth = { connected: false, deleted: false };
  readonly states: State[] = [];
  readonly #plan: (readonly [Step, string | undefined])[];
  readonly #underWay: IncomeEvent[] = [];
  readonly #counts = new Map<string, number>();
  readonly #asks: Pending[] = [];
  readonly #delivered: Receipt[] = [];
  readonly #random: Iterator<number>;
  #replays = 3;

  constructor(steps: readonly (readonly [Step, string | undefined])[], random: Iterator<number>) {
    this.#plan = [...steps];
    this.#random = random;
  }

  run(): void {
    while (this.#actions().length > 0) pick(this.#actions(), this.#random)?.();
  }

  #actions(): (() => void)[] {
    const isReplayed = this.#replays > 0 && this.#delivered.length > 0;
    return [
      ...(isReplayed ? [() => this.#replay()] : []),
      ...(this.#plan.length > 0 ? [() => this.#happen()] : []),
      ...(this.#underWay.length > 0 ? [() => this.#deliver()] : []),
      ...(this.#asks.some(({ answer }) => answer === undefined) ? [() => this.#answer()] : []),
      ...(this.#asks.some(({ answer }) => answer !== undefined) ? [() => this.#applyAnswer()] : []),
    ];
  }

  #happen(): void {
    const [step, time] = this.#plan.shift() ?? [];
    if (step === undefined || this.truth.deleted) return;
    change(this.truth, step);
    const event = eventAfter(step, this.truth, time);
    const copies = this.#upTo(3) + 1;
    for (let copy = 0; copy < copies; copy += 1) this.#underWay.push(event);
  }

  #deliver(): void {
    const event = pick(this.#underWay, this.#random);
    if (event === undefined) return;
    const receipts = (this.#counts.get(event.id) ?? 0) + 1;
    this.#counts.set(event.id, receipts);
    this.#delivered.push({ event, receipts });
    this.#write(applyEvent(this.states.at(-1), event, receipts));
  }

  #replay(): void {
    this.#replays -= 1;
    for (const { event, receipts } of this.#delivered.slice(-this.#upTo(10) - 1)) {
      this.#write(applyEvent(this.states.at(-1), event, receipts));
    }
  }

  #upTo(limit: number): number {
    return (this.#random.next().value ?? 0) % limit;
  }

  #answer(): void {
    const ask = this.#asks.find(({ answer }) => answer === undefined);
    if (ask === undefined) return;
    const { connected, deleted } = this.truth;
    ask.answer = deleted ? { found: false } : { found: true, connected };
  }

  #applyAnswer(): void {
    const ask = pick(this.#asks, this.#random);
    if (ask === undefined) return;
    // A task may be delivered twice, or be lost before its call and redelivered.
    if (ask.answer === undefined) this.#asks.push(ask);
    else this.#write(this.#answered(ask.version, ask.answer));
  }

  /** Open questions (nobody has announced the deletion) are asked again later. */
  #answered(version: number, answer: Answer): State | undefined {
    try {
      return applyProviderAnswer(this.states.at(-1), version, answer, { at });
    } catch (error) {
      expect(error).toMatchObject({ failure: { type: "retryable" } });
      this.#asks.push({ version });
      return undefined;
    }
  }

  #write(next: State | undefined): void {
    if (next === undefined) return;
    const before = this.states.at(-1);
    this.states.push(next);
    for (const consequence of consequencesOf({ type: "state", before, after: next }, settings)) {
      if (consequence.type === "call" && consequence.task.type === "fetchState") {
        this.#asks.push({ version: consequence.task.version });
      }
    }
  }
}

const step = fc.constantFrom<Step>("connect", "disconnect", "update", "connect", "disconnect");
const history = (times: fc.Arbitrary<boolean>) =>
  fc
    .tuple(
      fc.array(fc.tuple(step, times), { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      fc.boolean(),
      times,
    )
    .map(([steps, isCreated, isDeleted, isLastTimed]) => {
      const first = isCreated ? [["create", isLastTimed] as const] : [];
      const last = isDeleted ? [["delete", isLastTimed] as const] : [];
      const all = [...first, ...steps, ...last];
      return all.map(([name, isTimed], index) => [name, isTimed ? minute(index) : undefined] as const);
    });

describe("events in any interleaving with retries, repeats, questions and answers", () => {
  it.each([
    ["none has a time", fc.constant(false)],
    ["all have a time", fc.constant(true)],
    ["some have a time", fc.boolean()],
  ])("end in the truth where %s", (_, times) => {
    fc.assert(
      fc.property(history(times), choices, (steps, random) => {
        const simulation = new Simulation(steps, random[Symbol.iterator]());
        simulation.run();
        const { states, truth } = simulation;
        const final = states.at(-1);
        expect(final?.unconfirmed).toBe(false);
        expect(final?.deleted).toBe(truth.deleted);
        if (!truth.deleted) expect(final?.connected).toBe(truth.connected);
        const first = states.findIndex(({ deleted }) => deleted);
        if (first >= 0) expect(states.slice(first).every(({ deleted }) => deleted)).toBe(true);
        expect(states.map(({ version }) => version)).toEqual(states.map((_, index) => index + 1));
      }),
      { numRuns: 3000 },
    );
  });
});
