import { buildApp } from "fauxqs";
import { z } from "zod";
import { type EngineClient, summaryOf, withoutConnectionHeaders } from "./engine-client.ts";
import { isOfThisRun, newRunSecret, secretHeadersFor, withRunSecret } from "./run-secret.ts";

/** Where the engine shows a queue, by its name; here it answers a summary. */
export const queuePath = "/_fauxqs/queues/";

export type QueuesAndObjects = {
  /** Of both, with the secret of the run. */
  readonly url: string;
  /** The way to the queues within this process. */
  readonly queues: EngineClient;
  close(): Promise<void>;
};

/**
 * Starts the engine of queues and objects in this process, on loopback and a free port.
 * A trap: the package's own `startFauxqs` listens on every interface of the machine.
 */
export async function startQueuesAndObjects({
  region,
  keep,
}: {
  readonly region: string;
  /** Where messages and objects are kept; undefined: in memory. */
  readonly keep?: string | undefined;
}): Promise<QueuesAndObjects> {
  const kept = keep === undefined ? undefined : await openKeptStores(keep);
  const app = buildApp({ logger: false, defaultRegion: region, ...(kept && { stores: kept.stores }) });
  const secret = newRunSecret();
  app.addHook("onRequest", async ({ headers }, reply) => {
    if (!isOfThisRun(headers, secret)) return reply.code(403).send();
  });
  // Of a queue with many messages each look would else write all their bodies, for a few numbers.
  app.addHook("preSerialization", (request, _reply, payload, done) =>
    done(null, request.url.startsWith(queuePath) ? (summaryOf(payload) ?? payload) : payload),
  );
  const url = withRunSecret(await app.listen({ host: "127.0.0.1", port: 0 }), secret);
  return {
    url,
    queues: withinProcess(app, url),
    close: async () => {
      await app.close();
      kept?.close();
    },
  };
}

/**
 * Hands requests over without a connection, which takes a third of the time.
 * A trap: it resolves dots in a path as a browser does. Calls to queues have none, those to objects may.
 */
function withinProcess(app: ReturnType<typeof buildApp>, url: string): EngineClient {
  const own = { host: new URL(url).host, ...secretHeadersFor(url) };
  return {
    send: async ({ method, target, headers, body }) => {
      const all = { ...headers, ...own, "content-length": String(body.length) };
      const answer = await app.inject({ method, url: target, headers: all, payload: body });
      return {
        status: answer.statusCode,
        headers: withoutConnectionHeaders(answer.headers),
        body: answer.rawPayload,
      };
    },
    close: () => undefined,
  };
}

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
/** The engine's own persistence. */
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
async function openKeptStores(
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
