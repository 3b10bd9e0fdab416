import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { retryable } from "../../domain/core/failures.ts";
import { loggedName, loggedNameIndex, nameOf, type Subject } from "../../domain/event/subjects.ts";
import { parseState, type State } from "../../domain/state/state.ts";
import { batchingReader, type ReadKey } from "./batching-reader.ts";
import { batchingWriter, type WriteItem } from "./batching-writer.ts";
import { itemVersion, stateKey } from "./keys.ts";

/** Returns the next version of a state, or undefined if nothing changes. */
export type Change = (stored: State | undefined) => State | undefined;

/**
 * Updates states. A version is written only over the version that it was made from.
 * @param stored the state as read before, tried first; absent: it is read
 */
export type Revise = {
  readonly state: (subject: Subject, change: Change, stored?: State) => Promise<void>;
};

export type VersionedRecords = Revise & {
  /**
   * Reads states with one request, for updates that follow. Each update first tries the state that was read, or that
   * this process wrote since. A state that could not be read is read at its update.
   */
  readonly readAhead: (subjects: readonly Subject[]) => Promise<Revise>;
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
};

/** Few writers update one state (its events and its fetch): a loser reads again and rarely loses twice. */
const maxAttempts = 8;

/** @param shared a reader and a writer that other code uses too; absent: new ones */
export function versionedRecords(
  client: DynamoDBClient,
  tableName: string,
  shared: { readonly read: ReadKey; readonly write: WriteItem } = {
    read: batchingReader(client, tableName),
    write: batchingWriter(client, tableName),
  },
): VersionedRecords {
  const loadState = async (subject: Subject) => {
    const item = await shared.read(stateKey(subject));
    return item === undefined ? undefined : parseState(item.state);
  };

  const save = async (updated: State): Promise<boolean> => {
    const key = stateKey(updated.subject);
    const isStill = { path: ["state", "version"], operator: "=", value: updated.version - 1 } as const;
    const outcome = await shared.write(
      updated.version === 1
        ? {
            type: "insert",
            key,
            attributes: {
              schemaVersion: itemVersion,
              [loggedNameIndex.attribute]: loggedName(updated.subject),
              state: updated,
            },
          }
        : { type: "update", key, attribute: "state", value: updated, where: [isStill] },
    );
    return outcome === "written";
  };

  /** @param ahead states that were read ahead, by name; updated after each write */
  const revising = (ahead: Map<string, State | undefined>): Revise => ({
    state: async (subject, change, given) => {
      const name = nameOf(subject);
      let stored = given ?? (ahead.has(name) ? ahead.get(name) : await loadState(subject));
      for (let tries = 0; tries < maxAttempts; tries += 1) {
        const updated = change(stored);
        if (updated === undefined) return;
        if (await save(updated)) {
          if (ahead.has(name)) ahead.set(name, updated);
          return;
        }
        // Another writer was faster.
        ahead.delete(name);
        stored = await loadState(subject);
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
