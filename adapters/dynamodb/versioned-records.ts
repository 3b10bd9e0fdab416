import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { retryable } from "../../domain/core/failures.ts";
import { isFields } from "../../domain/core/parse.ts";
import { loggedName, loggedNameIndex, nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { Failures } from "../../domain/readiness/readiness.ts";
import {
  type AccountReadiness,
  parseAccountReadiness,
  parseUserReadiness,
  type UserReadiness,
} from "../../domain/readiness/stored-readiness.ts";
import { parseState, type State } from "../../domain/state/state.ts";
import { batchingReader, batchingWriter, type ReadKey, type WriteItem } from "./batching.ts";
import { readDocument } from "./documents.ts";
import { documentKey, itemVersion, type Key, readinessKey, stateKey } from "./keys.ts";

/**
 * Updates a state. A version is written only over the version that it was made from.
 * @param change returns the next version, or undefined if nothing changes
 * @param stored the state that the caller has read; absent: it is read first
 */
export type ReviseState = (
  subject: Subject,
  change: (stored: State | undefined) => State | undefined,
  stored?: State,
) => Promise<void>;

export type VersionedRecords = {
  readonly reviseState: ReviseState;
  /**
   * Reads states with one request, for updates that follow. Each update first tries the state that was read, or that
   * this process wrote since. A state that could not be read is read at its update.
   */
  readonly readAhead: (subjects: readonly Subject[]) => Promise<ReviseState>;
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
};

/** Few writers update one state (its events and its fetch): a loser reads again and rarely loses twice. */
const maxAttempts = 8;

export function versionedRecords(client: DynamoDBClient, tableName: string): VersionedRecords {
  return sharedRecords({
    read: batchingReader(client, tableName),
    write: batchingWriter(client, tableName),
  });
}

/** @param shared a reader and a writer that other code uses too */
export function sharedRecords(shared: {
  readonly read: ReadKey;
  readonly write: WriteItem;
}): VersionedRecords {
  const loadState = async (subject: Subject) => {
    const item = await shared.read(stateKey(subject));
    return item === undefined ? undefined : parseState(item.state);
  };

  /** @param ahead states that were read ahead, by name; updated after each write */
  const revising = (ahead: Map<string, State | undefined>): ReviseState => {
    return async (subject, change, given) => {
      const name = nameOf(subject);
      let stored = given ?? (ahead.has(name) ? ahead.get(name) : await loadState(subject));
      for (let tries = 0; tries < maxAttempts; tries += 1) {
        const updated = change(stored);
        if (updated === undefined) return;
        if ((await saveVersion(shared.write, stateKey(updated.subject), "state", updated)) === "written") {
          if (ahead.has(name)) ahead.set(name, updated);
          return;
        }
        // Another writer was faster.
        ahead.delete(name);
        stored = await loadState(subject);
      }
      throw retryable("state contended", 1);
    };
  };

  return {
    reviseState: revising(new Map()),
    loadState,
    readAhead: async (subjects) => {
      const ahead = new Map<string, State | undefined>();
      const reads = subjects.map(async (one) => void ahead.set(nameOf(one), await loadState(one)));
      await Promise.allSettled(reads);
      return revising(ahead);
    },
  };
}

/** Writes a version if the stored one is the version before it. */
function saveVersion(
  write: WriteItem,
  key: Key,
  attribute: "state" | "readiness",
  updated: State | AccountReadiness | UserReadiness,
) {
  const { version, subject } = updated;
  if (version > 1) {
    const isStill = { path: [attribute, "version"], operator: "=", value: version - 1 } as const;
    return write({ type: "update", key, attribute, value: updated, where: [isStill] });
  }
  const indexed = attribute === "state" && { [loggedNameIndex.attribute]: loggedName(subject) };
  const attributes = { schemaVersion: itemVersion, ...indexed, [attribute]: updated };
  return write({ type: "insert", key, attributes });
}

/** Stores the readiness of each account and user in an item of its own. All reads are consistent. */
export type ReadinessRecords = ReturnType<typeof readinessRecords>;

/** The attribute of a failure mark, beside the versioned attribute. */
const markOf = (endpoint: string) => `failure-${endpoint}`;

/** Reads the readiness of accounts and users consistently. */
export function readinessReader(read: ReadKey) {
  return {
    load: async (account: Subject): Promise<AccountReadiness | undefined> => {
      const item = await read(readinessKey(account));
      return item && parseAccountReadiness(item.readiness);
    },
    loadUser: async (user: Subject): Promise<UserReadiness | undefined> => {
      const item = await read(readinessKey(user));
      return item && parseUserReadiness(item.readiness);
    },
  };
}

export function readinessRecords(read: ReadKey, write: WriteItem) {
  const { load, loadUser } = readinessReader(read);
  const save = (updated: AccountReadiness | UserReadiness) =>
    saveVersion(write, readinessKey(updated.subject), "readiness", updated);
  return {
    documents: async (account: Subject, endpoints: readonly string[]) => {
      const items = await Promise.all(endpoints.map((endpoint) => read(documentKey(account, { endpoint }))));
      return items.flatMap((item) => (item === undefined ? [] : [readDocument(item).document]));
    },
    /** Why endpoints could not be read since the connection began. */
    failures: async (account: Subject, { endpoints, since }: AccountReadiness) => {
      const item = await read(readinessKey(account));
      const marks = endpoints.map((endpoint) => [endpoint, reasonIn(item?.[markOf(endpoint)], since)]);
      return Object.fromEntries(marks);
    },
    /** Records when and why an endpoint could not be read. Does nothing if the account has no readiness item. */
    markFailure: async (
      account: Subject,
      endpoint: string,
      mark: { readonly reason: NonNullable<Failures[string]>; readonly at: number },
    ) => {
      const key = readinessKey(account);
      await write({ type: "update", key, attribute: markOf(endpoint), value: mark, where: [] });
    },
    /** The readiness of the accounts that have one. */
    accounts: async (ids: readonly string[]) => {
      const found = await Promise.all(ids.map((id) => load({ kind: "account", id })));
      return found.filter((each) => each !== undefined);
    },
    /**
     * Replaces the stored version by the one that follows from it. Several functions write; the loser of a conflict
     * decides again.
     * @param change returns the updated version; undefined to leave it as it is
     * @throws retryable failure after too many write conflicts
     */
    update: (
      account: Subject,
      change: (stored: AccountReadiness | undefined) => Promise<AccountReadiness | undefined>,
    ) => saveNext(async () => change(await load(account)), save),
    /** As `update`, for a user. */
    updateUser: (
      user: Subject,
      change: (stored: UserReadiness | undefined) => Promise<UserReadiness | undefined>,
    ) => saveNext(async () => change(await loadUser(user)), save),
  };
}

async function saveNext<T>(
  decide: () => Promise<T | undefined>,
  save: (next: T) => Promise<string>,
): Promise<void> {
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const next = await decide();
    if (next === undefined || (await save(next)) === "written") return;
  }
  throw retryable("readiness contended", 1);
}

function reasonIn(mark: unknown, since: number): Failures[string] {
  if (!isFields(mark) || typeof mark.at !== "number" || mark.at < since) return undefined;
  return mark.reason === "deadLetter" ? "deadLetter" : "failing";
}
