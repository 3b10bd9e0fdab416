import { fieldsOf, isFields, numberOf, present } from "../core/parse.ts";
import type { Outcome } from "./last-change.ts";

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

type Report = {
  readonly wasConnected: boolean;
  readonly claimed: boolean | undefined;
  readonly outcome: Outcome;
  /** A repeat of the same bytes announces nothing. */
  readonly isAgain: boolean;
  readonly since: number;
};

export function connectionAfterEvent(
  known: Connection | undefined,
  { wasConnected, claimed, outcome, isAgain, since }: Report,
): Connection | undefined {
  switch (outcome) {
    case "stale":
    case "agreed":
      return known;
    case "applied":
      if (claimed === undefined || claimed === wasConnected) return known;
      return claimed ? { since } : undefined;
    case "unconfirmed": {
      const isInterrupted = known?.isInterrupted === true || (claimed === false && !isAgain);
      const askedSince = Math.max(since, known?.askedSince ?? 0);
      return present<Connection>({
        since: known?.since,
        askedSince,
        isInterrupted: isInterrupted || undefined,
      });
    }
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function connectionAfterAnswer(
  known: Connection | undefined,
  wasConnected: boolean,
  connected: boolean | undefined,
): Connection | undefined {
  if (known === undefined || connected === false) return undefined;
  const isNew = connected === true && (!wasConnected || known.isInterrupted === true);
  const since = isNew ? (known.askedSince ?? known.since) : known.since;
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
