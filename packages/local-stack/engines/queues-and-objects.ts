import { buildApp } from "fauxqs";
import { type EngineClient, withoutConnectionHeaders } from "./engine-client.ts";
import { openKeptStores } from "./kept-stores.ts";
import { summaryOf } from "./queue-summary.ts";
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
