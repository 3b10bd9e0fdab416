import type { buildApp } from "fauxqs";
import { z } from "zod";

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
/** What the engine itself keeps its stores with. */
type Persistence = {
  readonly db: { prepare(statement: string): { run(messageId: string): unknown } };
  load(...stores: readonly object[]): void;
  updateMessageReady(messageId: string): void;
  close(): void;
};
type Persistent = { persistence?: unknown };

const isClass = (value: unknown) => typeof value === "function";
const modules = {
  sqs: ["sqs/sqsStore.js", z.object({ SqsStore: z.custom<new () => Stores["sqsStore"]>(isClass) })],
  sns: ["sns/snsStore.js", z.object({ SnsStore: z.custom<new () => Stores["snsStore"]>(isClass) })],
  s3: ["s3/s3Store.js", z.object({ S3Store: z.custom<new () => Stores["s3Store"]>(isClass) })],
  kept: [
    "persistence.js",
    z.object({ PersistenceManager: z.custom<new (directory: string) => Persistence>(isClass) }),
  ],
} as const;

/**
 * Stores that the engine writes to a file at each change, and loads from it.
 * A trap: the engine's own way to have them, `startFauxqs`, listens on every interface of the machine.
 */
export async function openKeptStores(
  directory: string,
): Promise<{ readonly stores: Stores; readonly close: () => void }> {
  const load = <Shape>([file, schema]: readonly [string, z.ZodType<Shape>]) =>
    import(new URL(file, import.meta.resolve("fauxqs")).href).then((module: unknown) =>
      schema.parse({ ...Object(module) }),
    );
  const { SqsStore } = await load(modules.sqs);
  const { SnsStore } = await load(modules.sns);
  const { S3Store } = await load(modules.s3);
  const { PersistenceManager } = await load(modules.kept);
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  const persistence = new PersistenceManager(directory);
  const makeReady = persistence.db.prepare(
    "UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?",
  );
  // A trap: the engine's own forgets how often a message was received, which its table refuses; the message is lost.
  persistence.updateMessageReady = (messageId) => void makeReady.run(messageId);
  // First: what is loaded is not to be written again.
  persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
  const persistent: readonly Persistent[] = [...Object.values(stores), ...stores.sqsStore.allQueues()];
  for (const store of persistent) store.persistence = persistence;
  return { stores, close: () => persistence.close() };
}
