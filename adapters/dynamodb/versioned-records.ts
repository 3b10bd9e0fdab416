import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { retryable } from "../../domain/core/failures.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { parseState, type State } from "../../domain/state/state.ts";
import { batchingReader, type ReadKey } from "./batching-reader.ts";
import { batchingWriter, type WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { stateKey } from "./keys.ts";

/** Gives the next version of what is known, or undefined where nothing changes. */
export type Change = (known: State | undefined) => State | undefined;

/**
 * Revises states, which carry a version: a version is written only over the one that it was made of.
 * @param known the state as it was read before, to try first; absent: it is read
 */
export type Revise = {
  readonly state: (subject: Subject, change: Change, known?: State) => Promise<void>;
};

/** Reads and updates states. */
export type VersionedRecords = Revise & {
  /**
   * Reads states with one request, to be updated soon and one after the other: each version is tried over what was
   * read, or was written here since. What can't be read ahead is read in its turn.
   */
  readonly readAhead: (subjects: readonly Subject[]) => Promise<Revise>;
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
};

/** Those who read or write at the same time share requests. */
export type SharedRequests = { readonly read: ReadKey; readonly write: WriteItem };

/** Writers of one state are few (its events, its fetch): a loser reads again, and rarely loses twice. */
const maxAttempts = 8;

/** @param shared requests to share with others; absent: with nobody but the records themselves */
export function versionedRecords(
  client: DynamoDBClient,
  tableName: string,
  shared: SharedRequests = {
    read: batchingReader(client, tableName),
    write: batchingWriter(client, tableName),
  },
): VersionedRecords {
  const loadState = async (subject: Subject) => {
    const item = await shared.read(stateKey(subject));
    return item === undefined ? undefined : parseState(item.state);
  };

  const save = async (next: State): Promise<boolean> => {
    const key = stateKey(next.subject);
    const isStill = { path: ["state", "version"], operator: "=", value: next.version - 1 } as const;
    const outcome = await shared.write(
      next.version === 1
        ? { type: "insert", key, attributes: { schemaVersion: itemVersion, state: next } }
        : { type: "update", key, attribute: "state", value: next, where: [isStill] },
    );
    return outcome === "written";
  };

  /** @param ahead what was read ahead, by name; it is kept as it is written */
  const revising = (ahead: Map<string, State | undefined>): Revise => ({
    state: async (subject, change, given) => {
      const name = nameOf(subject);
      let known = given ?? (ahead.has(name) ? ahead.get(name) : await loadState(subject));
      for (let tries = 0; tries < maxAttempts; tries += 1) {
        const next = change(known);
        if (next === undefined) return;
        if (await save(next)) {
          if (ahead.has(name)) ahead.set(name, next);
          return;
        }
        // Another was faster.
        ahead.delete(name);
        known = await loadState(subject);
      }
      throw retryable("state contended", 1);
    },
  });

  return {
    loadState,
    readAhead: async (subjects) => {
      const ahead = new Map<string, State | undefined>();
      const reads = subjects.map(async (one) => void ahead.set(nameOf(one), await loadState(one)));
      await Promise.allSettled(reads);
      return revising(ahead);
    },
    ...revising(new Map()),
  };
}
