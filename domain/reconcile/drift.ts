import { present } from "../core/parse.ts";
import type { EventAttributes, WebhookKind } from "../event/events.ts";
import { identify } from "../event/identify.ts";
import type { Listed } from "../state/listing.ts";
import type { State } from "../state/state.ts";

/**
 * How the table stands to what the provider lists. `missing`: the table knows nothing of it. `conflicting`: it is
 * known otherwise, or is still unconfirmed. `orphaned`: the table knows it, and the provider lists it no more.
 */
export type DriftType = "missing" | "conflicting" | "orphaned";

/** An event that no webhook brought. */
export type FoundEvent = {
  readonly kind: WebhookKind;
  /** The same for the same finding, however often it is made; another one once the state has moved on. */
  readonly id: string;
  readonly facts: EventAttributes;
};

/** What the event corrects. */
export type Drift = FoundEvent & { readonly drift: Exclude<DriftType, "orphaned"> };

/** An account that the table knows and the provider lists no more. */
export type Orphan = {
  readonly accountId: string;
  /** Whose list it was missing in. */
  readonly userId: string;
  /** Of its state: whatever is heard of the account changes it. */
  readonly version: number;
};

/** An orphan has no event: it may be the provider's fault. */
export type Orphaned = { readonly drift: "orphaned"; readonly orphan: Orphan };

/** `deleted`: the provider lists what the table knows as deleted; a deletion is final, so nothing is reported. */
export type ComparisonResult = Drift | Orphaned | "agrees" | "deleted";

/**
 * Compares a listed user with what is known of it.
 * @param createdBefore ISO 8601: what was created since is left to its webhook, which may be on its way
 */
export function compareUser(
  known: State | undefined,
  listed: Listed,
  createdBefore: string,
): ComparisonResult {
  if (known !== undefined) return known.deleted ? "deleted" : "agrees";
  if (isRecent(listed, createdBefore)) return "agrees";
  return driftOf("missing", "users", undefined, { type: "user.created", userId: listed.id });
}

/** Compares an account of a user, at least listed or known, with what is known of it. */
export function compareAccount(
  userId: string,
  known: State | undefined,
  listed: Listed | undefined,
  createdBefore: string,
): ComparisonResult {
  if (known?.deleted === true) return listed === undefined ? "agrees" : "deleted";
  if (listed === undefined) {
    if (known === undefined) return "agrees";
    return { drift: "orphaned", orphan: { accountId: known.subject.id, userId, version: known.version } };
  }
  const { id: accountId, connected, datasourceId } = listed;
  const attributes = present<Omit<EventAttributes, "type">>({ userId, accountId, connected, datasourceId });
  if (known === undefined) {
    if (isRecent(listed, createdBefore)) return "agrees";
    return driftOf("missing", "accounts", known, { ...attributes, type: "account.created" });
  }
  return isConflicting(known, connected)
    ? driftOf("conflicting", "accounts", known, { ...attributes, type: "account.updated" })
    : "agrees";
}

export function countComparisons(
  comparisons: readonly ComparisonResult[],
): Record<DriftType | "deleted", number> {
  const names = comparisons.map((comparison) =>
    typeof comparison === "string" ? comparison : comparison.drift,
  );
  const count = (wanted: DriftType | "deleted") => names.filter((name) => name === wanted).length;
  return {
    missing: count("missing"),
    conflicting: count("conflicting"),
    orphaned: count("orphaned"),
    deleted: count("deleted"),
  };
}

/** What is still unconfirmed is sent again: the question to the provider may have been lost. */
function isConflicting(known: State, connected: boolean | undefined): boolean {
  return known.unconfirmed || (connected !== undefined && connected !== (known.connected ?? false));
}

function isRecent({ createdAt }: Listed, createdBefore: string): boolean {
  return createdAt !== undefined && createdAt >= createdBefore;
}

function driftOf(
  drift: Drift["drift"],
  kind: WebhookKind,
  known: State | undefined,
  facts: EventAttributes,
): Drift {
  const { type, userId, accountId, connected } = facts;
  const text = JSON.stringify(["reconciled", type, userId, accountId, connected, known?.version ?? 0]);
  return { drift, kind, facts, id: identify(kind, Buffer.from(text)) };
}
