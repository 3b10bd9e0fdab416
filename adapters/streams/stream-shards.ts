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

/** A position in a shard. */
export type Place = {
  readonly shardId: string;
  begin: "LATEST" | "TRIM_HORIZON";
  iterator?: string | undefined;
  lastRead?: string | undefined;
  enteredAt?: Date;
  /** Earlier records are skipped, although they are read again. */
  notBefore?: Date;
  hasEnded: boolean;
};

/** The shards of a table's stream. Each ends after some hours, and another follows. */
export type StreamShards = {
  /** The existing shards, each at its current end. A closed shard ends at its first read. */
  present(): Promise<readonly Place[]>;
  /** The shards created since the last call, each at its beginning. */
  added(): Promise<readonly Place[]>;
  /** Gets an iterator for the place, so that no later record is missed. */
  enter(place: Place): Promise<void>;
  /** Reads the next records from a place and advances it. */
  read(place: Place): Promise<readonly _Record[]>;
};

export function streamShards(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  abortSignal: AbortSignal,
): StreamShards {
  const known = new Set<string>();

  const look = async (begin: Place["begin"]): Promise<readonly Place[]> => {
    const ids = (await listShards()).flatMap(({ ShardId }) => ShardId ?? []).filter((id) => !known.has(id));
    for (const id of ids) known.add(id);
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

  const enter = async (place: Place) => {
    const { shardId, begin, lastRead } = place;
    const position =
      lastRead === undefined
        ? { ShardIteratorType: begin }
        : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const, SequenceNumber: lastRead };
    const command = new GetShardIteratorCommand({ StreamArn, ShardId: shardId, ...position });
    place.enteredAt ??= new Date();
    place.iterator = (await client.send(command, { abortSignal })).ShardIterator;
  };

  return {
    present: () => look("LATEST"),
    added: () => look("TRIM_HORIZON"),
    enter,
    read: async (place) => {
      if (place.iterator === undefined) await enter(place);
      const command = new GetRecordsCommand({ ShardIterator: place.iterator });
      try {
        const { Records = [], NextShardIterator } = await client.send(command, { abortSignal });
        place.lastRead = Records.at(-1)?.dynamodb?.SequenceNumber ?? place.lastRead;
        place.iterator = NextShardIterator;
        place.hasEnded = NextShardIterator === undefined;
        return Records.filter((record) => isWanted(record, place));
      } catch (error) {
        leave(place, error);
        return [];
      }
    },
  };
}

function isWanted({ dynamodb }: _Record, { notBefore }: Place): boolean {
  const at = dynamodb?.ApproximateCreationDateTime;
  return at === undefined || notBefore === undefined || at >= notBefore;
}

/** Resets a place after a long pause: its iterator has expired, or the stream has trimmed the next records. */
function leave(place: Place, error: unknown): void {
  const isDropped = error instanceof TrimmedDataAccessException;
  if (!isDropped && !(error instanceof ExpiredIteratorException)) throw error;
  place.iterator = undefined;
  if (isDropped || place.lastRead === undefined) {
    // LATEST would now be a later position than when the place was entered.
    if (place.begin === "LATEST" && place.enteredAt !== undefined)
      place.notBefore = minuteOf(place.enteredAt);
    place.begin = "TRIM_HORIZON";
  }
  if (!isDropped) return;
  place.lastRead = undefined;
}

const millisecondsPerMinute = 60_000;

/** Rounds to the precision of a record's time: AWS reports the second, DynamoDB Local the minute. */
function minuteOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / millisecondsPerMinute) * millisecondsPerMinute);
}
