import { fieldsOf, isFields, numberOf, optionalText, present } from "../core/parse.ts";
import type { IncomeEvent } from "../event/events.ts";
import { claimOf, type Outcome } from "./last-change.ts";

/**
 * When an account was connected, by the `SentTimestamp` of the webhook that reported it. Stored if the stage
 * has `readiness`. Documents read before that time belong to an earlier connection.
 */
export type Connection = {
  /** Absent while the account is not connected, or if it was connected before the setting was enabled. */
  readonly since?: number;
  /** `SentTimestamp` of the last event that awaits the provider's answer. */
  readonly askedSince?: number;
  /** An event reported a disconnection, and the provider has not answered yet. */
  readonly isInterrupted?: true;
};

/** @param isAgain the event repeats the same bytes, and so announces nothing */
export function connectionAfterEvent(
  stored: Connection | undefined,
  {
    wasConnected,
    claimed,
    outcome,
    isAgain,
    since,
  }: {
    readonly wasConnected: boolean;
    readonly claimed: boolean | undefined;
    readonly outcome: Outcome;
    readonly isAgain: boolean;
    readonly since: number;
  },
): Connection | undefined {
  switch (outcome) {
    case "stale":
    case "agreed":
      return stored;
    case "applied":
      if (claimed === undefined || claimed === wasConnected) return stored;
      return claimed ? { since } : undefined;
    case "unconfirmed": {
      const isInterrupted = stored?.isInterrupted === true || (claimed === false && !isAgain);
      const askedSince = Math.max(since, stored?.askedSince ?? 0);
      return present<Connection>({
        since: stored?.since,
        askedSince,
        isInterrupted: isInterrupted || undefined,
      });
    }
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function connectionAfterAnswer(
  stored: Connection | undefined,
  wasConnected: boolean,
  connected: boolean | undefined,
): Connection | undefined {
  if (stored === undefined || connected === false) return undefined;
  const isNew = connected === true && (!wasConnected || stored.isInterrupted === true);
  const since = isNew ? (stored.askedSince ?? stored.since) : stored.since;
  return since === undefined ? undefined : { since };
}

/** @throws permanent failure naming the field */
export function parseConnection(value: unknown): Connection | undefined {
  if (!isFields(value)) return undefined;
  const fields = fieldsOf(value, "connection");
  const numberIn = (name: string) => (fields[name] === undefined ? undefined : numberOf(fields, name));
  return present<Connection>({
    since: numberIn("since"),
    askedSince: numberIn("askedSince"),
    isInterrupted: fields.isInterrupted === true ? true : undefined,
  });
}

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
  { status: stored, connected: wasConnected }: { readonly status?: Status; readonly connected?: boolean },
  event: IncomeEvent,
  outcome: Outcome,
  since = Date.parse(event.receivedAt),
): Status | undefined {
  const { connected } = claimOf(event);
  if (connected === undefined) return stored;
  const claimed = { since, ...present({ reason: event.reason }) };
  switch (outcome) {
    case "stale":
      return stored;
    case "unconfirmed":
      return { ...stored, asked: { connected, ...claimed } };
    case "applied":
    case "agreed":
      return connected === wasConnected ? { ...stored, ...present({ reason: event.reason }) } : claimed;
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function statusAfterAnswer(
  stored: Status | undefined,
  wasConnected: boolean | undefined,
  connected: boolean | undefined,
  at: Date,
): Status | undefined {
  if (stored === undefined) return undefined;
  const { asked, ...rest } = stored;
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
