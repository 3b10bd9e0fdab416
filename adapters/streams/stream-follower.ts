import { DescribeTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  ExpiredIteratorException,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  TrimmedDataAccessException,
} from "@aws-sdk/client-dynamodb-streams";
import { permanent } from "../../domain/core/failures.ts";
import { isTransient } from "../aws/client.ts";

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

/** A reader of one shard, at its position. */
export type ShardReader = {
  readonly shardId: string;
  begin: "LATEST" | "TRIM_HORIZON";
  iterator?: string | undefined;
  lastRead?: string | undefined;
  openedAt?: Date;
  /** Earlier records are skipped, although they are read again. */
  notBefore?: Date;
  hasEnded: boolean;
};

/** The shards of a table's stream. Each ends after some hours, and another follows. */
export type StreamShards = {
  /** The existing shards, each at its current end. A closed shard ends at its first read. */
  present(): Promise<readonly ShardReader[]>;
  /** The shards created since the last call, each at its beginning. */
  added(): Promise<readonly ShardReader[]>;
  /** Gets an iterator for the reader, so that no later record is missed. */
  open(reader: ShardReader): Promise<void>;
  /** Reads the next records from a shard. */
  read(reader: ShardReader): Promise<readonly _Record[]>;
};

export function streamShards(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  abortSignal: AbortSignal,
): StreamShards {
  const seen = new Set<string>();

  const unseen = async (begin: ShardReader["begin"]): Promise<readonly ShardReader[]> => {
    const ids = (await listShards()).flatMap(({ ShardId }) => ShardId ?? []).filter((id) => !seen.has(id));
    for (const id of ids) seen.add(id);
    return ids.map((shardId) => ({ shardId, begin, hasEnded: false }));
  };

  const listShards = async (): Promise<readonly Shard[]> => {
    const shards: Shard[] = [];
    let last: string | undefined;
    do {
      const command = new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId: last });
      const { StreamDescription } = await client.send(command, { abortSignal });
      shards.push(...(StreamDescription?.Shards ?? []));
      last = StreamDescription?.LastEvaluatedShardId;
    } while (last !== undefined);
    return shards;
  };

  const open = async (reader: ShardReader) => {
    const { shardId, begin, lastRead } = reader;
    const position =
      lastRead === undefined
        ? { ShardIteratorType: begin }
        : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const, SequenceNumber: lastRead };
    const command = new GetShardIteratorCommand({ StreamArn, ShardId: shardId, ...position });
    reader.openedAt ??= new Date();
    reader.iterator = (await client.send(command, { abortSignal })).ShardIterator;
  };

  return {
    present: () => unseen("LATEST"),
    added: () => unseen("TRIM_HORIZON"),
    open,
    read: async (reader) => {
      if (reader.iterator === undefined) await open(reader);
      const command = new GetRecordsCommand({ ShardIterator: reader.iterator });
      try {
        const { Records = [], NextShardIterator } = await client.send(command, { abortSignal });
        reader.lastRead = Records.at(-1)?.dynamodb?.SequenceNumber ?? reader.lastRead;
        reader.iterator = NextShardIterator;
        reader.hasEnded = NextShardIterator === undefined;
        return Records.filter((record) => isWanted(record, reader));
      } catch (error) {
        reset(reader, error);
        return [];
      }
    },
  };
}

function isWanted({ dynamodb }: _Record, { notBefore }: ShardReader): boolean {
  const at = dynamodb?.ApproximateCreationDateTime;
  return at === undefined || notBefore === undefined || at >= notBefore;
}

/** Resets a reader after a long pause: its iterator has expired, or the stream has trimmed the next records. */
function reset(reader: ShardReader, error: unknown): void {
  const isDropped = error instanceof TrimmedDataAccessException;
  if (!isDropped && !(error instanceof ExpiredIteratorException)) throw error;
  reader.iterator = undefined;
  if (isDropped || reader.lastRead === undefined) {
    // LATEST would now be a later position than when the reader was opened.
    if (reader.begin === "LATEST" && reader.openedAt !== undefined)
      reader.notBefore = minuteOf(reader.openedAt);
    reader.begin = "TRIM_HORIZON";
  }
  if (!isDropped) return;
  reader.lastRead = undefined;
}

const millisecondsPerMinute = 60_000;

/** Rounds to the precision of a record's time: AWS reports the second, DynamoDB Local the minute. */
function minuteOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / millisecondsPerMinute) * millisecondsPerMinute);
}

/** The ARN of a table's stream. @throws permanent failure if the table has none */
export async function streamOf(client: DynamoDBClient, TableName: string): Promise<string> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.LatestStreamArn === undefined) throw permanent(`the table ${TableName} has no stream`);
  return Table.LatestStreamArn;
}
