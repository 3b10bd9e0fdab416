import type { _Record, DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { isTransient } from "../aws/transient-errors.ts";
import { type StreamShards, streamShards } from "./stream-shards.ts";

export type Following = {
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly wait: (seconds: number) => Promise<void>;
  /** From here on nothing is missed. */
  readonly onReady: () => void;
  /** AWS asks to go slower, or is out of reach: it goes on by itself. */
  readonly onError: (reason: string, error: Error) => void;
  /** Is called once it went on after an error. */
  readonly onRecovered?: () => void;
  /** Whether it goes on after every error, as where somebody may sign in again meanwhile; else it ends with most. */
  readonly endures?: boolean;
};

const secondsBetweenReads = 1;
const longestBackOffInSeconds = 30;
/** So many reads later new shards are looked for, though none has ended. */
const readsBetweenLooks = 60;

/**
 * Follows a table's stream from now on: every change, in order within its partition. Each shard is read once a second.
 * A trap: a shard has at most two readers, beyond that all of them are throttled, the relay too.
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
    // What the end interrupts is no failure.
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

/** Runs an operation until it succeeds, as long as its troubles pass by themselves. */
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
