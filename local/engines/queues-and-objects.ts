export type QueuesAndObjects = {
  readonly sqsUrl: string;
  readonly s3Url: string;
  close(): Promise<void>;
};

/** Starts the engine of queues and objects in this process, on loopback and a free port. */
export async function startQueuesAndObjects(options: { readonly region: string }): Promise<QueuesAndObjects> {
  throw new Error(`the engine for ${options.region} is not built yet`);
}
