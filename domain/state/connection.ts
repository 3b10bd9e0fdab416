import { fieldsOf, isFields, numberOf, present } from "../core/parse.ts";
import type { Outcome } from "./last-change.ts";

/**
 * Since when an account is connected, by the `SentTimestamp` of the webhook that said so; kept where the stage has
 * `readiness`. Documents that were read before belong to an earlier connection.
 */
export type Connection = {
  /** Absent while the account is not connected, and where the connection is older than the setting. */
  readonly since?: number;
  /** `SentTimestamp` of the last event that awaits the provider's answer. */
  readonly askedSince?: number;
  /** An event announced the connection's end, and the provider has not answered yet. */
  readonly isInterrupted?: true;
};

/** An event as it bears on the connection. */
type Report = {
  /** Whether the account was connected before. */
  readonly wasConnected: boolean;
  readonly claimed: boolean | undefined;
  readonly outcome: Outcome;
  /** Bytes that were received before announce nothing. */
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

/** @param connected what the provider answered; undefined where it did not say */
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
