import { createHash } from "node:crypto";
import fc from "fast-check";
import type { EventType, IncomeEvent } from "../../domain/event/events.ts";
import type { Receipts } from "../../domain/event/receipts.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type DataName, type Document, documentAfter } from "../../domain/fetch/document.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { applyEvent, type State } from "../../domain/state/state.ts";
import { anyCharacter } from "../support/any-character.ts";

/** Samples for the domain's tests. */
export const accountId = "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10";
export const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";
export const account: Subject = { kind: "account", id: accountId };
export const at = new Date("2026-03-01T12:00:00.000Z");

/** An event of an account, whose id is a digest of its differing fields, as in a real event. */
export function eventOf(type: EventType, more: Partial<IncomeEvent> = {}): IncomeEvent {
  const text = `${type} ${JSON.stringify(more)}`;
  return {
    id: digestOf(text),
    kind: type.startsWith("endpoint.") ? "endpoints" : "accounts",
    type,
    receivedAt: "2026-03-01T12:00:00.000Z",
    accountId,
    ...more,
  };
}

/** A stored event's receipts, in messages `m1`, `m2` and so on. */
export function receiptsOf(count = 1): Receipts {
  return { count, first: "m1", last: `m${count}`, firstAt: 1, since: count };
}

/** The change in the table's stream for an event's receipt. */
export function eventChange(event: IncomeEvent, count = 1, countBefore = count - 1) {
  return { type: "event", event, receipts: receiptsOf(count), countBefore } as const;
}

/** A call for a document, and its cause. */
type Call = {
  readonly asOf: number;
  readonly by?: readonly string[];
  readonly subject?: Subject;
  readonly name?: DataName;
  readonly correlationId?: string;
  readonly userId?: string;
};

/**
 * The account's document after a call for it.
 * @param digest of the provider's data; undefined if it had none
 */
export function documentRead(known: Document | undefined, digest: string | undefined, call: Call): Document {
  const { asOf, by = [], subject = account, name = { endpoint: "income" }, correlationId, userId } = call;
  const task = documentTask(subject, name, 0, { cause: "test", correlationId, userId });
  return documentAfter(known, { asOf, by, task }, digest === undefined ? undefined : { digest, size: 2 });
}

export const minute = (value: number) => new Date(Date.UTC(2026, 0, 1, 0, value)).toISOString();

/** Applies events in order, each as a first receipt. */
export function applyAll(events: readonly IncomeEvent[], state?: State): State | undefined {
  return events.reduce<State | undefined>((known, event) => applyEvent(known, event, 1) ?? known, state);
}

export function applied(events: readonly IncomeEvent[], before?: State): State {
  const state = applyAll(events, before);
  if (state === undefined) throw new Error("no event was processed");
  return state;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

export type Receipt = { readonly event: IncomeEvent; readonly receipts: number };

/** Malicious ids: the characters that join and escape parts of keys, and any others. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({
    unit: fc.constantFrom("a", "b", "/", "#", "%", "2", "F", ".", "..", "é", "\\", '"'),
    minLength: 1,
    maxLength: 8,
  }),
  fc.string({ unit: anyCharacter, minLength: 1 }),
);
