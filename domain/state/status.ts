import { fieldsOf, isFields, numberOf, optionalText, present } from "../core/parse.ts";
import type { IncomeEvent } from "../event/events.ts";
import { claimOf } from "./claim.ts";
import type { Outcome } from "./last-change.ts";

/** When and why an account was connected or disconnected. Stored if the settings map a reason. */
export type Status = {
  /**
   * When the webhook that reported it was sent to its queue or the provider answered, in milliseconds since
   * 1970.
   */
  readonly since?: number;
  readonly reason?: string;
  /** The claim of the last event that awaits the provider's answer. */
  readonly asked?: Claimed;
};

type Claimed = { readonly connected: boolean; readonly since: number; readonly reason?: string };

/** @param since when the webhook was sent to its queue; defaults to when it was received */
export function statusAfterEvent(
  { status: known, connected: wasConnected }: { readonly status?: Status; readonly connected?: boolean },
  event: IncomeEvent,
  outcome: Outcome,
  since = Date.parse(event.receivedAt),
): Status | undefined {
  const { connected } = claimOf(event);
  if (connected === undefined) return known;
  const claimed = { since, ...present({ reason: event.reason }) };
  switch (outcome) {
    case "stale":
      return known;
    case "unconfirmed":
      return { ...known, asked: { connected, ...claimed } };
    case "applied":
    case "agreed":
      return connected === wasConnected ? { ...known, ...present({ reason: event.reason }) } : claimed;
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function statusAfterAnswer(
  known: Status | undefined,
  wasConnected: boolean | undefined,
  connected: boolean | undefined,
  at: Date,
): Status | undefined {
  if (known === undefined) return undefined;
  const { asked, ...rest } = known;
  if (connected === undefined || connected === wasConnected) return rest;
  if (asked?.connected !== connected) return { since: at.getTime() };
  return { since: asked.since, ...present({ reason: asked.reason }) };
}

/** @throws permanent failure naming the field */
export function parseStatus(value: unknown): Status | undefined {
  if (!isFields(value)) return undefined;
  return present<Status>({
    since: value.since === undefined ? undefined : numberOf(value, "since"),
    reason: optionalText(value, "reason"),
    asked: value.asked === undefined ? undefined : parseClaimed(fieldsOf(value.asked, "status.asked")),
  });
}

function parseClaimed(fields: Readonly<Record<string, unknown>>): Claimed {
  return {
    connected: fields.connected === true,
    since: numberOf(fields, "since"),
    ...present({ reason: optionalText(fields, "reason") }),
  };
}
