import { type LegalHold, loadHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import { partitions } from "../../../adapters/dynamodb/partitions.ts";
import { sharedReads } from "../../../adapters/dynamodb/shared-reads.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { Operation } from "../core/command.ts";

/** The legal holds because of which a subject is not erased: its own, its user's, and those of its accounts. */
export async function holdsOn(
  subject: Subject,
  { deployment, clients: { dynamodb } }: Pick<Operation, "deployment" | "clients">,
): Promise<readonly (LegalHold & { readonly subject: Subject })[]> {
  const table = deployment.output("TableName");
  const [state, accounts] = await Promise.all([
    versionedRecords(dynamodb, table).loadState(subject),
    subject.kind === "user" ? partitions(dynamodb, table).accountsOf(subject.id) : [],
  ]);
  const user: readonly Subject[] =
    state?.userId === undefined || subject.kind === "user" ? [] : [{ kind: "user", id: state.userId }];
  const others = accounts.map((id): Subject => ({ kind: "account", id }));
  return loadHolds(sharedReads(dynamodb, table), [subject, ...user, ...others]);
}
