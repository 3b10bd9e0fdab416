import { setTimeout as wait } from "node:timers/promises";
import { buildApp } from "fauxqs";
import { z } from "zod";
import { type EngineClient, withoutConnectionHeaders } from "./engine-client.ts";
import { isOfThisRun, newRunSecret, secretHeadersFor, withRunSecret } from "./run-secret.ts";

/** Client of the queue engine, which also reports a queue's messages without receiving them. */
export type QueueEngine = EngineClient & { summary(queueName: string): QueueSummary | undefined };

/**
 * Starts the engine of queues and objects in this process, on loopback and a free port. A trap: the package's
 * own `startFauxqs` listens on all interfaces.
 */
export async function startQueuesAndObjects({
  region,
  keep,
  shortPollMs,
}: {
  readonly region: string;
  /** Directory of messages and objects; undefined: in memory. */
  readonly keep?: string | undefined;
  readonly shortPollMs?: number | undefined;
}) {
  const { stores, closeStores } = await openStores(keep);
  const app = buildApp({ logger: false, defaultRegion: region, stores });
  const secret = newRunSecret();
  app.addHook("onRequest", async ({ headers }, reply) => {
    if (!isOfThisRun(headers, secret)) return reply.code(403).send();
  });
  const url = withRunSecret(await app.listen({ host: "127.0.0.1", port: 0 }), secret);
  const summary = (name: string) => summaryOf(stores.sqsStore.inspectQueue(name));
  const queues = { ...withinProcess(app, url), summary };
  return {
    /** URL of both engines, with the run's secret. */
    url,
    queues: shortPollMs === undefined ? queues : pollingBriefly(queues, shortPollMs),
    close: async (): Promise<void> => {
      await app.close();
      closeStores();
    },
  };
}

/**
 * Calls the engine without a connection, in a third of the time. A trap: it normalizes dots in a path as a
 * browser does, which is safe for queues but not for objects.
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

const shortPoll = /"WaitTimeSeconds":[1-4](?=[,}])/;

/** Ends long polls of up to four seconds sooner. The engine is one server, so a short poll misses no message. */
function pollingBriefly(queues: QueueEngine, milliseconds: number): QueueEngine {
  const send: EngineClient["send"] = async (request) => {
    const text = request.body.toString();
    if (request.headers["x-amz-target"] !== "AmazonSQS.ReceiveMessage" || !shortPoll.test(text))
      return queues.send(request);
    const body = Buffer.from(text.replace(shortPoll, '"WaitTimeSeconds":0'));
    const answer = await queues.send({ ...request, body });
    if (!answer.body.includes('"MessageId"')) await wait(milliseconds);
    return answer;
  };
  return { ...queues, send };
}

type Stores = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>["stores"]>;
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
 * Opens stores, which save each change to a file if a directory is given. A trap: the engine's own way,
 * `startFauxqs`, listens on all interfaces.
 */
async function openStores(directory: string | undefined) {
  const load = <Shape>([file, schema]: readonly [string, z.ZodType<Shape>]) =>
    import(new URL(file, import.meta.resolve("fauxqs")).href).then((module: unknown) =>
      schema.parse({ ...Object(module) }),
    );
  const { SqsStore } = await load(modules.sqs);
  const { SnsStore } = await load(modules.sns);
  const { S3Store } = await load(modules.s3);
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  if (directory === undefined) return { stores, closeStores: () => undefined };
  const { PersistenceManager } = await load(modules.kept);
  const persistence = new PersistenceManager(directory);
  const makeReady = persistence.db.prepare(
    "UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?",
  );
  // A trap: the engine's own version loses the receive count, its table refuses the row, and the message is
  // lost.
  persistence.updateMessageReady = (messageId) => void makeReady.run(messageId);
  // Loads before attaching the persistence, which would save the loaded data again.
  persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
  const persistent: readonly Persistent[] = [...Object.values(stores), ...stores.sqsStore.allQueues()];
  for (const store of persistent) store.persistence = persistence;
  return { stores, closeStores: () => persistence.close() };
}

type Inspected = ReturnType<Stores["sqsStore"]["inspectQueue"]>;
type QueueSummary = NonNullable<ReturnType<typeof summaryOf>>;

/**
 * A message of a standard queue that was received this often moves to the back of the queue and no longer
 * counts for its age, even with a redrive policy. FIFO queues keep their order.
 * Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage.
 */
const receivesUntilIgnored = 3;

/** Number of messages by visibility, and the time at which the oldest that counts for its age was sent. */
function summaryOf(queue: Inspected) {
  if (queue === undefined) return undefined;
  const { ready, delayed, inflight } = queue.messages;
  const receives = queue.name.endsWith(".fifo") ? Number.POSITIVE_INFINITY : receivesUntilIgnored;
  // Messages in flight and delayed messages count too.
  let oldest = Number.POSITIVE_INFINITY;
  for (const messages of [ready, delayed, inflight.map(({ message }) => message)]) {
    for (const { sentTimestamp, approximateReceiveCount } of messages) {
      if (approximateReceiveCount < receives) oldest = Math.min(oldest, sentTimestamp);
    }
  }
  return {
    ready: ready.length,
    delayed: delayed.length,
    inflight: inflight.length,
    /** Milliseconds since 1970; undefined if no message counts. */
    oldestSent: Number.isFinite(oldest) ? oldest : undefined,
  };
}
