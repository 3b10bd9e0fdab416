import { batchingReader } from "../../../adapters/dynamodb/batching.ts";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../adapters/dynamodb/event-table.ts";
import { type LegalHold, loadHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { type IncomeEvent, subjectKindOf } from "../../../domain/event/events.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import type { State } from "../../../domain/state/state.ts";
import type { Place } from "../core/command.ts";
import { unknownSubject } from "../core/flags.ts";

export type KnownRecords = {
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
  readonly loadDocuments: (subject: Subject) => Promise<readonly Document[]>;
};

export function recordsIn({ deployment, clients: { dynamodb } }: Place): KnownRecords {
  const table = deployment.output("TableName");
  const { loadState } = versionedRecords(dynamodb, table);
  const read = documentReader(dynamodb, table);
  const loadDocuments = async (subject: Subject) => (await read(subject)).map(({ document }) => document);
  return { loadState, loadDocuments };
}

/** The same, with each subject read once. */
export function knownRecords({ loadState, loadDocuments }: KnownRecords): KnownRecords {
  return { loadState: bySubject(loadState), loadDocuments: bySubject(loadDocuments) };
}

function bySubject<T>(load: (subject: Subject) => Promise<T>): (subject: Subject) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (subject) => {
    const found = loaded.get(nameOf(subject)) ?? load(subject);
    loaded.set(nameOf(subject), found);
    return found;
  };
}

/** The state of an event's subject; endpoint events need none. */
export async function stateOf(event: IncomeEvent, { loadState }: KnownRecords): Promise<State | undefined> {
  return subjectKindOf(event.type) === "endpoint" ? undefined : loadState(subjectOf(event));
}

/** A user's accounts; none for other subjects. */
export async function accountsOf(
  { kind, id }: Subject,
  { accountsOf: idsOf }: Pick<ReturnType<typeof partitions>, "accountsOf">,
): Promise<readonly Subject[]> {
  return kind === "user" ? (await idsOf(id)).map((each) => ({ kind: "account", id: each })) : [];
}

/** @throws CommandError if the subject is unknown, because an empty answer would be misleading */
export async function checkKnown(subject: Subject, { deployment, clients }: Place): Promise<void> {
  const { isKnown } = partitions(clients.dynamodb, deployment.output("TableName"));
  if (!(await isKnown(subject))) throw unknownSubject(subject);
}

/** The legal holds that prevent a subject's erasure: its own, its user's, and those of its accounts. */
export async function holdsOn(
  subject: Subject,
  { deployment, clients: { dynamodb } }: Place,
): Promise<readonly (LegalHold & { readonly subject: Subject })[]> {
  const table = deployment.output("TableName");
  const [state, accounts] = await Promise.all([
    versionedRecords(dynamodb, table).loadState(subject),
    accountsOf(subject, partitions(dynamodb, table)),
  ]);
  const user: readonly Subject[] =
    state?.userId === undefined || subject.kind === "user" ? [] : [{ kind: "user", id: state.userId }];
  return loadHolds(batchingReader(dynamodb, table), [subject, ...user, ...accounts]);
}
