import type { _Record, DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { isTransient } from "../aws/transient-errors.ts";
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
const readsBetweenLooks = 60;

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
  let places = await persist(() => shards.present());
  for (const place of places) await persist(() => shards.enter(place));
  onReady();
  for (let reads = 1; !signal.aborted; reads += 1) {
    for (const place of places) yield await persist(() => shards.read(place));
    const going = places.filter(({ hasEnded }) => !hasEnded);
    const isLookDue = going.length < places.length || reads % readsBetweenLooks === 0;
    places = isLookDue ? [...going, ...(await persist(() => shards.added()))] : going;
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
        const goesOn = isTransient(error) || (endures === true && error instanceof Error);
        if (signal.aborted || !goesOn) throw error;
        onError(error.name, error);
        await wait(Math.min(longestBackOffInSeconds, 2 ** tries));
      }
    }
  };
}
