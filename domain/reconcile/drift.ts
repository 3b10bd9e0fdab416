import { present } from "../core/parse.ts";
import { identify } from "../event/envelope.ts";
import type { EventAttributes, WebhookKind } from "../event/events.ts";
import type { Listed } from "../state/listing.ts";
import type { State } from "../state/state.ts";

/**
 * How the table differs from the provider's list. `missing`: not in the table. `conflicting`: different in
 * the table, or still unconfirmed. `orphaned`: in the table, but no longer listed.
 */
export type DriftType = "missing" | "conflicting" | "orphaned";

/** An event that no webhook reported. */
export type FoundEvent = {
  readonly kind: WebhookKind;
  /** The same for repeated findings; different after the state has changed. */
  readonly id: string;
  readonly facts: EventAttributes;
};

/** A difference that its event corrects. */
export type Drift = FoundEvent & { readonly drift: Exclude<DriftType, "orphaned"> };

/** An account in the table that the provider no longer lists. */
export type Orphan = {
  readonly accountId: string;
  /** The user in whose list it was missing. */
  readonly userId: string;
  /** Version of the account's state. Any event about the account changes it. */
  readonly version: number;
};

/** An orphan has no event, because the provider's list may be wrong. */
export type Orphaned = { readonly drift: "orphaned"; readonly orphan: Orphan };

/**
 * `deleted`: the provider lists a subject that is deleted in the table. A deletion is final, so nothing is
 * reported.
 */
export type ComparisonResult = Drift | Orphaned | "agrees" | "deleted";

/**
 * Compares a listed user with its stored state.
 * @param createdBefore ISO 8601; a user created later is skipped, because its webhook may still arrive
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

/** Compares a user's account, which is listed, stored or both, with its stored state. */
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

/** Compares a company account's stored state with the provider's answer about it. */
export function compareCompanyAccount(known: State, connected: boolean): Drift | "agrees" {
  const facts = { type: "company-account.updated", companyAccountId: known.subject.id, connected } as const;
  return isConflicting(known, connected)
    ? driftOf("conflicting", "company-accounts", known, facts)
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

/** Unconfirmed states are reported again, because the query to the provider may have been lost. */
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
  const { type, userId, accountId = facts.companyAccountId, connected } = facts;
  const text = JSON.stringify(["reconciled", type, userId, accountId, connected, known?.version ?? 0]);
  return { drift, kind, facts, id: identify(kind, Buffer.from(text)) };
}
