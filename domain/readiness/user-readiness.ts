import { present } from "../core/parse.ts";
import type { Subject } from "../event/subjects.ts";
import { type AccountReadiness, type Announcement, statusOf } from "./account-readiness.ts";
import type { UserRule } from "./readiness-settings.ts";

/** The last announcement about a user's accounts. Times are milliseconds since 1970. */
export type UserReadiness = {
  readonly subject: Subject;
  /** Increases by one with each announcement: the message's id and sequence. */
  readonly version: number;
  readonly at: number;
  /** By id. Without those that were erased since. */
  readonly accounts: readonly SettledAccount[];
  /** Correlation id of what led to the announcement. */
  readonly correlationId?: string;
};

/** A connected account that is ready or incomplete. `since`: when its connection began. */
export type SettledAccount = {
  readonly accountId: string;
  readonly status: Announcement["status"];
  readonly since: number;
};

/** @returns undefined while the account waits or is unconfirmed, and after its connection has ended */
function settledOf(readiness: AccountReadiness): SettledAccount | undefined {
  const { subject, isConfirmed, since } = readiness;
  const status = statusOf(readiness);
  if (!isConfirmed || status === "waiting" || status === "ended") return undefined;
  return { accountId: subject.id, status, since };
}

/** Whether a change of an account's readiness may lead to an announcement about its user. */
export function concernsUser(before: AccountReadiness | undefined, after: AccountReadiness): boolean {
  if (after.userId === undefined) return false;
  const settled = settledOf(after);
  // A new account that waits can only hold an announcement back.
  if (before === undefined) return settled !== undefined || !after.isConnected;
  return (
    before.userId !== after.userId ||
    before.isConnected !== after.isConnected ||
    !isSame(settledOf(before), settled)
  );
}

/**
 * The announcement that follows from a user's accounts.
 * @param accounts of the user, read consistently after `known`
 * @param now milliseconds since 1970
 * @returns undefined if there is nothing to announce, or it was announced already
 */
export function announceUser(
  known: UserReadiness | undefined,
  user: Subject,
  accounts: readonly AccountReadiness[],
  {
    rule,
    now,
    correlationId,
  }: { readonly rule: UserRule; readonly now: number; readonly correlationId: string | undefined },
): UserReadiness | undefined {
  const connected = accounts.filter(({ isConnected }) => isConnected);
  const settled = connected
    .flatMap((account) => settledOf(account) ?? [])
    .toSorted((one, other) => (one.accountId < other.accountId ? -1 : 1));
  if (settled.length === 0 || (rule === "all" && settled.length < connected.length)) return undefined;
  const isKnown =
    known?.accounts.length === settled.length &&
    settled.every((account, index) => isSame(account, known.accounts[index]));
  if (isKnown) return undefined;
  return present<UserReadiness>({
    subject: user,
    version: (known?.version ?? 0) + 1,
    at: now,
    accounts: settled,
    correlationId,
  });
}

function isSame(one: SettledAccount | undefined, other: SettledAccount | undefined): boolean {
  return one?.accountId === other?.accountId && one?.status === other?.status && one?.since === other?.since;
}
