import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import type { State } from "../../../domain/state/state.ts";

/** What is known of subjects. */
export type KnownRecords = {
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
  readonly loadDocuments: (subject: Subject) => Promise<readonly Document[]>;
};

export function recordsIn(client: DynamoDBClient, tableName: string): KnownRecords {
  const { loadState } = versionedRecords(client, tableName);
  const read = documentReader(client, tableName);
  const loadDocuments = async (subject: Subject) => (await read(subject)).map(({ document }) => document);
  return { loadState, loadDocuments };
}

/** The same, read once for each subject. */
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
