import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { z } from "zod";

/** Values by name, oldest first, stored as JSON so that the service continues after a restart. */
export type Collection<Value> = Pick<
  ReadonlyMap<string, Value>,
  "get" | "has" | "size" | "keys" | "values"
> & {
  set(id: string, value: Value): void;
  delete(id: string): void;
};

export type Store = ReturnType<typeof openStore>;

const schema = `
  CREATE TABLE IF NOT EXISTS documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (collection, id)
  ) STRICT;
`;

/**
 * @param directory directory of the environment's file; absent: in memory only
 * @throws if the directory cannot be written, or another process uses the file
 */
export function openStore(environment: string, directory?: string) {
  if (directory !== undefined) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = directory === undefined ? ":memory:" : join(directory, `${environment}.sqlite`);
  const database = new DatabaseSync(file);
  try {
    // Exclusive, because two services on one file would both deliver its events. NORMAL may lose the latest
    // changes in a power failure, but never in a crash of the process.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    database.exec(schema);
  } catch (error) {
    database.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${file} can't be used (${reason}): end the sandbox that uses it, or choose another directory`,
    );
  }
  const load = database.prepare("SELECT id, value FROM documents WHERE collection = ? ORDER BY number");
  const put = database.prepare(
    `INSERT INTO documents (collection, id, value) VALUES (?, ?, ?)
     ON CONFLICT (collection, id) DO UPDATE SET value = excluded.value`,
  );
  const remove = database.prepare("DELETE FROM documents WHERE collection = ? AND id = ?");
  return {
    database,
    /** @param toKeep serializes a value for its schema; absent: stores the value itself */
    collection: <Value>(
      name: string,
      stored: z.ZodType<Value>,
      toKeep: (value: Value) => unknown = (value) => value,
    ): Collection<Value> => {
      const kept = load
        .all(name)
        .map(({ id, value }) => [String(id), stored.parse(JSON.parse(String(value)))] as const);
      const values = new Map(kept);
      return {
        get: (id) => values.get(id),
        has: (id) => values.has(id),
        get size() {
          return values.size;
        },
        keys: () => values.keys(),
        values: () => values.values(),
        set: (id, value) => {
          values.set(id, value);
          put.run(name, id, JSON.stringify(toKeep(value)));
        },
        delete: (id) => {
          values.delete(id);
          remove.run(name, id);
        },
      };
    },
    close: () => database.close(),
  };
}
