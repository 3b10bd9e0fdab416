import { type DynamoDBClient, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { retryable } from "../../domain/core/failures.ts";
import type { Fields } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type DocumentRecord, parseDocumentRecord } from "../../domain/fetch/document.ts";
import type { DataName } from "../../domain/fetch/document-name.ts";
import { parseState, type State } from "../../domain/state/state.ts";
import { itemVersion, readItem } from "./items.ts";
import { documentKey, documentsOf, type Key, stateKey } from "./keys.ts";
import { nameOf, sharedReads } from "./shared-reads.ts";
import { sharedWrites } from "./shared-writes.ts";

/** Gives the next version of what is known, or undefined where nothing changes. */
export type Change<T> = (known: T | undefined) => T | undefined;

/**
 * Revises records that carry a version: a version is written only over the one that it was made of.
 * @param known the record as it was read before, to try first; absent: it is read
 */
export type Revise = {
  readonly state: (subject: Subject, change: Change<State>, known?: State) => Promise<void>;
  readonly document: (
    subject: Subject,
    name: DataName,
    change: Change<DocumentRecord>,
    known?: DocumentRecord,
  ) => Promise<void>;
};

/** A state; with a name a document. */
export type RecordName = { readonly subject: Subject; readonly name?: DataName };

/** Reads and updates records. */
export type VersionedRecords = Revise & {
  /**
   * Reads records with one request, to be updated soon and one after the other: each version is tried over what was
   * read, or was written here since. What can't be read ahead is read in its turn.
   */
  readonly readAhead: (records: readonly RecordName[]) => Promise<Revise>;
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
  readonly loadDocument: (subject: Subject, name: DataName) => Promise<DocumentRecord | undefined>;
  /** All that is known of a subject's data, each range by itself. */
  readonly loadDocuments: (subject: Subject) => Promise<readonly DocumentRecord[]>;
};

/** Writers of one record are few (its events, its fetch): a loser reads again, and rarely loses twice. */
const maxAttempts = 8;

/** Where a record's item holds it, and how it is read. */
type Kind<T> = { readonly attribute: string; readonly parse: (value: unknown) => T };
const states: Kind<State> = { attribute: "state", parse: parseState };
const documents: Kind<DocumentRecord> = { attribute: "data", parse: parseDocumentRecord };

/** @param write shares requests with others who write; absent: with nobody but the records themselves */
export function versionedRecords(
  client: DynamoDBClient,
  tableName: string,
  write = sharedWrites(client, tableName),
): VersionedRecords {
  const read = sharedReads(client, tableName);

  const save = async (key: Key, attribute: string, next: { version: number }): Promise<boolean> => {
    const isStill = { path: [attribute, "version"], is: "=", value: next.version - 1 } as const;
    const outcome = await write(
      next.version === 1
        ? { kind: "insert", key, attributes: { schemaVersion: itemVersion, [attribute]: next } }
        : { kind: "update", key, attribute, value: next, where: [isStill] },
    );
    return outcome === "written";
  };

  /** @param ahead what was read ahead, by key; it is kept as it is written */
  const revising = (ahead: Map<string, Fields | undefined>): Revise => {
    const revise = async <T extends { version: number }>(
      key: Key,
      { attribute, parse }: Kind<T>,
      change: Change<T>,
      given: T | undefined,
    ): Promise<void> => {
      const name = nameOf(key);
      const load = async () => {
        const item = ahead.has(name) ? ahead.get(name) : await read(key);
        return item === undefined ? undefined : parse(item[attribute]);
      };
      let known = given ?? (await load());
      for (let tries = 0; tries < maxAttempts; tries += 1) {
        const next = change(known);
        if (next === undefined) return;
        if (await save(key, attribute, next)) {
          if (ahead.has(name)) ahead.set(name, { [attribute]: next });
          return;
        }
        // Another was faster.
        ahead.delete(name);
        known = await load();
      }
      throw retryable("record contended", 1);
    };
    return {
      state: (subject, change, known) => revise(stateKey(subject), states, change, known),
      document: (subject, name, change, known) =>
        revise(documentKey(subject, name), documents, change, known),
    };
  };

  const loadState = async (subject: Subject) => {
    const item = await read(stateKey(subject));
    return item === undefined ? undefined : parseState(item.state);
  };
  const loadDocument = async (subject: Subject, name: DataName) => {
    const item = await read(documentKey(subject, name));
    return item === undefined ? undefined : parseDocumentRecord(item.data);
  };
  const loadDocuments = async (subject: Subject) => {
    const { pk, sk } = documentsOf(subject);
    const query = {
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :sk)",
      ExpressionAttributeValues: marshall({ ":pk": pk, ":sk": sk }),
      ConsistentRead: true,
    };
    const found: DocumentRecord[] = [];
    for await (const { Items = [] } of paginateQuery({ client }, query)) {
      found.push(...Items.map((item) => parseDocumentRecord(readItem(item).data)));
    }
    return found;
  };
  return {
    loadState,
    loadDocument,
    loadDocuments,
    readAhead: async (records) => {
      const ahead = new Map<string, Fields | undefined>();
      const keys = records.map(({ subject, name }) =>
        name === undefined ? stateKey(subject) : documentKey(subject, name),
      );
      const reads = keys.map(async (key) => void ahead.set(nameOf(key), await read(key)));
      await Promise.allSettled(reads);
      return revising(ahead);
    },
    ...revising(new Map()),
  };
}
