import type { _Record, DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { isTransient } from "../aws/client.ts";
import { type StreamShards, streamShards } from "./stream-shards.ts";

export type Following = {
  /** Stops following. */
  readonly signal: AbortSignal;
  readonly wait: (seconds: number) => Promise<void>;
  /** Called when no later change can be missed. */
  readonly onReady: () => void;
  /** Called when AWS throttles or is unreachable. Following continues by itself. */
  readonly onError: (reason: string, error: Error) => void;
  /** Called when a retry succeeds after an error. */
  readonly onRecovered?: () => void;
  /** Retry after every error, for example where somebody may sign in again. Default: only after transient errors. */
  readonly endures?: boolean;
};

const secondsBetweenReads = 1;
const longestBackOffInSeconds = 30;
/** Number of reads between two searches for new shards while no shard has ended. */
const readsBetweenSearches = 60;

/**
 * Follows a table's stream from now on: every change, in order within its partition. Reads each shard once a second.
 * More than two readers of a shard are all throttled, including the relay.
 */
export async function* followStream(
  client: DynamoDBStreamsClient,
  streamArn: string,
  following: Following,
): AsyncGenerator<readonly _Record[]> {
  const shards = streamShards(client, streamArn, following.signal);
  try {
    yield* follow(shards, following);
  } catch (error) {
    // An error caused by the abort is not a failure.
    if (!following.signal.aborted) throw error;
  }
}

async function* follow(shards: StreamShards, following: Following): AsyncGenerator<readonly _Record[]> {
  const { signal, wait, onReady } = following;
  const persist = persistently(following);
  let open = await persist(() => shards.present());
  for (const shard of open) await persist(() => shards.open(shard));
  onReady();
  for (let reads = 1; !signal.aborted; reads += 1) {
    for (const shard of open) yield await persist(() => shards.read(shard));
    const unfinished = open.filter(({ hasEnded }) => !hasEnded);
    const isSearchDue = unfinished.length < open.length || reads % readsBetweenSearches === 0;
    open = isSearchDue ? [...unfinished, ...(await persist(() => shards.added()))] : unfinished;
    await wait(secondsBetweenReads);
  }
}

/** Retries an operation after transient errors, or after every error if `endures` is set. */
function persistently({ signal, wait, onError, onRecovered, endures }: Omit<Following, "onReady">) {
  return async <T>(operation: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      try {
        const result = await operation();
        if (tries > 0) onRecovered?.();
        return result;
      } catch (error) {
        const isRetried = isTransient(error) || (endures === true && error instanceof Error);
        if (signal.aborted || !isRetried) throw error;
        onError(error.name, error);
        await wait(Math.min(longestBackOffInSeconds, 2 ** tries));
      }
    }
  };
}
