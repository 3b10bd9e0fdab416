import { createHash } from "node:crypto";
import type { EventType, IncomeEvent } from "../../domain/event/events.ts";
import type { Receipts } from "../../domain/event/receipts.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { applyEvent, type State } from "../../domain/state/state.ts";

/** Shapes that the tests of the domain share. */
export const accountId = "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10";
export const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";
export const account: Subject = { kind: "account", id: accountId };
export const at = new Date("2026-03-01T12:00:00.000Z");

/** An event of an account; the identity is a digest of what makes its body differ, as a real one is. */
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

/** A stored event's receipts, each in a message of its own: `m1`, `m2`. */
export function receiptsOf(count = 1): Receipts {
  return { count, first: "m1", last: `m${count}`, firstAt: 1, since: count };
}

/** The change by which the table announces an event's receipt. */
export function eventChange(event: IncomeEvent, count = 1, countBefore = count - 1) {
  return { of: "event", event, receipts: receiptsOf(count), countBefore } as const;
}

export const minute = (value: number) => new Date(Date.UTC(2026, 0, 1, 0, value)).toISOString();

/** Judges events one after the other, each as a first receipt. */
export function applyAll(events: readonly IncomeEvent[], state?: State): State | undefined {
  return events.reduce<State | undefined>((known, event) => applyEvent(known, event, 1) ?? known, state);
}

export function applied(events: readonly IncomeEvent[]): State {
  const state = applyAll(events);
  if (state === undefined) throw new Error("no event was judged");
  return state;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
