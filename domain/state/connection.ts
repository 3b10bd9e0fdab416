import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalBoolean,
  optionalText,
  present,
} from "../core/parse.ts";
import type { IncomeEvent } from "../event/events.ts";
import { claimOf, type Outcome } from "./last-change.ts";

/**
 * When and why an account was connected or disconnected. Stored if the stage has `readiness` or maps reasons.
 * Times are `SentTimestamp` of webhooks, in milliseconds since 1970. Documents read before `since` belong to an
 * earlier connection.
 */
export type Connection = {
  /**
   * When the webhook was sent that reported it or, if the provider decided, the last one before its answer.
   * Absent if that was before the settings were enabled.
   */
  readonly since?: number;
  readonly reason?: string;
  /** Set while events await the provider's answer. */
  readonly asked?: Asked;
  /** An event reported a disconnection, and the provider has not answered yet. Only with `readiness`. */
  readonly isInterrupted?: true;
};

/** The last event that awaits an answer, and what the last one claimed that said whether it is connected. */
type Asked = { readonly since: number; readonly connected?: boolean; readonly reason?: string };

type Report = {
  readonly wasConnected: boolean | undefined;
  readonly outcome: Outcome;
  /** A repeat of the same bytes announces nothing. */
  readonly isAgain: boolean;
  readonly since: number;
  /** Whether a connection that was interrupted is a new one, as readiness needs. */
  readonly followsConnections: boolean;
};

export function connectionAfterEvent(
  known: Connection | undefined,
  event: IncomeEvent,
  { wasConnected, outcome, isAgain, since, followsConnections }: Report,
): Connection | undefined {
  const { connected } = claimOf(event);
  const reason = connected === undefined ? undefined : event.reason;
  switch (outcome) {
    case "stale":
      return known;
    case "applied":
    case "agreed":
      if (connected === undefined) return known;
      if (connected !== wasConnected) return present({ since, reason });
      return reason === undefined ? known : { ...known, reason };
    case "unconfirmed": {
      const claimed = connected === undefined ? known?.asked : { connected, reason };
      const ends = followsConnections && connected === false && !isAgain;
      return present<Connection>({
        since: known?.since,
        reason: known?.reason,
        asked: present<Asked>({
          connected: claimed?.connected,
          reason: claimed?.reason,
          since: Math.max(since, known?.asked?.since ?? 0),
        }),
        isInterrupted: known?.isInterrupted ?? (ends || undefined),
      });
    }
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function connectionAfterAnswer(
  known: Connection | undefined,
  wasConnected: boolean | undefined,
  connected: boolean | undefined,
): Connection | undefined {
  if (known === undefined) return undefined;
  const { asked, isInterrupted = false, since, reason } = known;
  if (connected === undefined) return present<Connection>({ since, reason });
  const isSame = connected === wasConnected;
  const isNew = !isSame || (connected && isInterrupted);
  return present<Connection>({
    since: isNew ? (asked?.since ?? since) : since,
    reason: isSame ? reason : asked?.connected === connected ? asked.reason : undefined,
  });
}

/** @throws permanent failure naming the field */
export function parseConnection(value: unknown): Connection | undefined {
  if (!isFields(value)) return undefined;
  return present<Connection>({
    since: value.since === undefined ? undefined : numberOf(value, "since"),
    reason: optionalText(value, "reason"),
    asked: value.asked === undefined ? undefined : parseAsked(fieldsOf(value.asked, "connection.asked")),
    isInterrupted: value.isInterrupted === true ? true : undefined,
  });
}

function parseAsked(fields: Fields): Asked {
  return {
    since: numberOf(fields, "since"),
    ...present({ connected: optionalBoolean(fields, "connected"), reason: optionalText(fields, "reason") }),
  };
}
