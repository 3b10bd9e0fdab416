import { present } from "../core/parse.ts";
import type { EventFacts, Kind } from "../event/events.ts";
import { identify } from "../event/identify.ts";
import type { Listed } from "../state/listing.ts";
import type { State } from "../state/state.ts";

/**
 * How the table stands to what the provider lists. `missed`: the table knows nothing of it. `contradicted`: it is
 * known otherwise, or is still unconfirmed. `unlisted`: the table knows it, and the provider lists it no more.
 */
export type GapKind = "missed" | "contradicted" | "unlisted";

/** What was missed, as the event that tells it. */
export type Gap = {
  readonly gap: GapKind;
  readonly kind: Kind;
  /** The same for the same gap, however often it is found; another one once the state has moved on. */
  readonly id: string;
  readonly facts: EventFacts;
};

/** `deleted`: the provider lists what the table knows as deleted; a deletion is final, so nothing is told. */
export type Verdict = Gap | "agrees" | "deleted";

/**
 * Compares a listed user with what is known of it.
 * @param settledBefore ISO 8601: what was created since is left to its webhook, which may be on its way
 */
export function compareUser(known: State | undefined, listed: Listed, settledBefore: string): Verdict {
  if (known !== undefined) return known.deleted ? "deleted" : "agrees";
  if (isRecent(listed, settledBefore)) return "agrees";
  return gapOf("missed", "users", undefined, { type: "user.created", userId: listed.id });
}

/** Compares an account of a user, at least listed or known, with what is known of it. */
export function compareAccount(
  userId: string,
  known: State | undefined,
  listed: Listed | undefined,
  settledBefore: string,
): Verdict {
  if (known?.deleted === true) return listed === undefined ? "agrees" : "deleted";
  if (listed === undefined) {
    if (known === undefined) return "agrees";
    // Weak, so the provider is asked: only its 404 or 410 makes the account deleted.
    const facts: EventFacts = { type: "account.deleted", userId, accountId: known.subject.id };
    return gapOf("unlisted", "accounts", known, facts);
  }
  const { id: accountId, connected, datasourceId } = listed;
  const told = present<Omit<EventFacts, "type">>({ userId, accountId, connected, datasourceId });
  if (known === undefined) {
    if (isRecent(listed, settledBefore)) return "agrees";
    return gapOf("missed", "accounts", known, { ...told, type: "account.created" });
  }
  return isContradicted(known, connected)
    ? gapOf("contradicted", "accounts", known, { ...told, type: "account.updated" })
    : "agrees";
}

export function countVerdicts(verdicts: readonly Verdict[]): Record<GapKind | "deleted", number> {
  const names = verdicts.map((verdict) => (typeof verdict === "string" ? verdict : verdict.gap));
  const count = (wanted: GapKind | "deleted") => names.filter((name) => name === wanted).length;
  return {
    missed: count("missed"),
    contradicted: count("contradicted"),
    unlisted: count("unlisted"),
    deleted: count("deleted"),
  };
}

/** What is still unconfirmed is told again: the question to the provider may have been lost. */
function isContradicted(known: State, connected: boolean | undefined): boolean {
  return known.unconfirmed || (connected !== undefined && connected !== (known.connected ?? false));
}

function isRecent({ createdAt }: Listed, settledBefore: string): boolean {
  return createdAt !== undefined && createdAt >= settledBefore;
}

function gapOf(gap: GapKind, kind: Kind, known: State | undefined, facts: EventFacts): Gap {
  const { type, userId, accountId, connected } = facts;
  const text = JSON.stringify(["reconciled", type, userId, accountId, connected, known?.version ?? 0]);
  return { gap, kind, facts, id: identify(kind, Buffer.from(text)) };
}
