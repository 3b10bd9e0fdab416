import { batchingReader } from "../../../adapters/dynamodb/batching.ts";
import {
  contentOfDocument,
  documentReader,
  type StoredDocument,
  textOfContent,
} from "../../../adapters/dynamodb/documents.ts";
import { readinessReader } from "../../../adapters/dynamodb/versioned-records.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Attributes } from "../../../domain/event/events.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { DataName } from "../../../domain/fetch/document.ts";
import { userOf } from "../../../domain/message/consequences.ts";
import type { State } from "../../../domain/state/state.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { unknownSubject } from "../core/flags.ts";
import { shownJson } from "../core/shown-json.ts";
import { lookupPorts } from "../events/event-lookup.ts";

export type RecordPorts = ReturnType<typeof recordPorts>;

export function recordPorts(place: Place) {
  const { deployment, clients } = place;
  const table = deployment.output("TableName");
  return {
    ...lookupPorts(place),
    readDocuments: documentReader(clients.dynamodb, table),
    readiness: readinessReader(batchingReader(clients.dynamodb, table)),
    overflow: overflowBucket(deployment.output("OverflowBucketName"), clients.s3),
  };
}

/**
 * The record of a user, an account or a company account, without the data itself. Without state there is only data,
 * from events that arrived before the account's own; attributes are those of the user, or of the account's user.
 */
export type SubjectRecord = Awaited<ReturnType<typeof loadRecord>>;

export type LinkedAccount = { readonly id: string; readonly state?: State };

/** Printable data; null if the provider has none. */
export type ShownData = DataName & { readonly data: unknown };

/** @throws CommandError if the subject is unknown */
export async function loadRecord(subject: Subject, ports: RecordPorts) {
  const { partitions, records, readDocuments, readiness: stored } = ports;
  const [readiness, ofUser, state, documents, ids] = await Promise.all([
    subject.kind === "account" ? stored.load(subject) : undefined,
    subject.kind === "user" ? stored.loadUser(subject) : undefined,
    records.loadState(subject),
    readDocuments(subject),
    subject.kind === "user" ? partitions.accountsOf(subject.id) : [],
  ]);
  if (state === undefined && documents.length + ids.length === 0) throw unknownSubject(subject);
  const accounts = await Promise.all(
    ids.map(async (id) =>
      present<LinkedAccount>({ id, state: await records.loadState({ kind: "account", id }) }),
    ),
  );
  const attributes = await attributesOf(state, records);
  const known = present({ state, attributes, readiness, readyAccounts: ofUser?.accounts });
  return { subject, ...known, accounts, documents };
}

/** The attributes of the user whom a state is about. */
export async function attributesOf(
  state: State | undefined,
  { loadState }: Pick<RecordPorts["records"], "loadState">,
): Promise<Attributes | undefined> {
  const user = state && (await userOf({ type: "state", before: undefined, after: state }, loadState));
  return (user ?? state)?.attributes?.values;
}

/**
 * The data of an endpoint, one result for each range of dates; without an endpoint, of all endpoints.
 * @throws CommandError if there is no data for the endpoint
 */
export async function loadData(
  { subject, state, documents }: SubjectRecord,
  endpoint: string | undefined,
  reveal: boolean,
  { overflow }: Pick<RecordPorts, "overflow">,
): Promise<readonly ShownData[]> {
  const wanted = documents.filter(({ document }) => endpoint === undefined || document.endpoint === endpoint);
  if (endpoint !== undefined && wanted.length === 0) throw noSuchData(subject, endpoint, documents);
  const ids = [subject.id, state?.userId, state?.datasourceId];
  const shown: ShownData[] = [];
  // Sequentially, because each document may be large.
  for (const stored of wanted) {
    const { endpoint: name, range } = stored.document;
    const dataName = { endpoint: name, ...present({ range }) };
    const content = await contentOfDocument(stored, overflow);
    const text = content && textOfContent(content.parts, content.contentType);
    shown.push({ ...dataName, data: text === undefined ? null : shownJson(text, { reveal, ids }) });
  }
  return shown;
}

function noSuchData(subject: Subject, endpoint: string, documents: readonly StoredDocument[]): CommandError {
  const known = [...new Set(documents.map(({ document }) => document.endpoint))].join(", ") || "none";
  return CommandError.usage(`--data ${endpoint}: ${nameOf(subject)} has no such data; it has: ${known}.`);
}
