import { buildApp } from "fauxqs";
import { openKeptStores } from "./kept-stores.ts";
import { isOfThisRun, newRunSecret, withRunSecret } from "./run-secret.ts";

/** Both addresses carry the secret of the run. */
export type QueuesAndObjects = {
  readonly sqsUrl: string;
  readonly s3Url: string;
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
  const url = withRunSecret(await app.listen({ host: "127.0.0.1", port: 0 }), secret);
  return {
    sqsUrl: url,
    s3Url: url,
    close: async () => {
      await app.close();
      kept?.close();
    },
  };
}
