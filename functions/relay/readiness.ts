import type { Partitions } from "../../adapters/dynamodb/partitions.ts";
import type { ReadinessRecords } from "../../adapters/dynamodb/readiness.ts";
import type { Consequence } from "../../domain/message/consequences.ts";
import {
  type AccountReadiness,
  afterDocument,
  afterState,
  beginConnection,
  beginsConnection,
} from "../../domain/readiness/account-readiness.ts";
import type { ReadinessSettings } from "../../domain/readiness/readiness-settings.ts";
import { announceUser } from "../../domain/readiness/user-readiness.ts";

export type Readiness = {
  readonly records: ReadinessRecords;
  readonly partitions: Pick<Partitions, "accountsOf">;
  readonly settings: ReadinessSettings;
  /** DynamoDB's clock, in milliseconds since 1970. */
  readonly clock: () => number;
};

type Follow = Extract<Consequence, { type: "followReadiness" }>;

/** Updates an account's readiness after a change of its state or documents. */
export function followReadiness({ change }: Follow, readiness: Readiness): Promise<void> {
  return readiness.records.update(change.after.subject, (stored) => updatedBy(change, stored, readiness));
}

async function updatedBy(
  change: Follow["change"],
  stored: AccountReadiness | undefined,
  { records, settings, clock }: Readiness,
): Promise<AccountReadiness | undefined> {
  if (change.type === "document") return stored && afterDocument(stored, change.after, clock());
  const { after: state } = change;
  if (!beginsConnection(stored, state)) return stored && afterState(stored, state);
  const documents = await records.documents(state.subject, settings.endpoints);
  return beginConnection(stored, state, documents, { settings, now: clock() });
}

type FollowAccounts = Extract<Consequence, { type: "followAccounts" }>;

/** Announces a user's accounts. They are read after the version that the write replaces. */
export function followAccounts(
  { userId, correlationId }: FollowAccounts,
  { records, partitions, settings: { users: rule = "all" }, clock }: Readiness,
): Promise<void> {
  const user = { kind: "user", id: userId } as const;
  return records.updateUser(user, async (known) => {
    const ids = await partitions.accountsOf(userId, { isConsistent: true });
    const accounts = await records.accounts(ids);
    return announceUser(known, user, accounts, { rule, now: clock(), correlationId });
  });
}
