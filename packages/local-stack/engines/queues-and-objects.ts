import { buildApp } from "fauxqs";

export type QueuesAndObjects = {
  readonly sqsUrl: string;
  readonly s3Url: string;
  close(): Promise<void>;
};

/**
 * Starts the engine of queues and objects in this process, on loopback and a free port.
 * A trap: the package's own `startFauxqs` listens on every interface of the machine.
 */
export async function startQueuesAndObjects(options: { readonly region: string }): Promise<QueuesAndObjects> {
  const app = buildApp({ logger: false, defaultRegion: options.region });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    sqsUrl: url,
    s3Url: url,
    close: async () => {
      await app.close();
    },
  };
}
