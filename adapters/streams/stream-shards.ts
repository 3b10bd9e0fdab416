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

/** Where a shard is read. */
export type Place = {
  readonly shardId: string;
  begin: "LATEST" | "TRIM_HORIZON";
  iterator?: string | undefined;
  lastRead?: string | undefined;
  enteredAt?: Date;
  /** What was written before is not wanted, though it is read again. */
  notBefore?: Date;
  hasEnded: boolean;
};

/** The shards of a table's stream. They end after some hours, and others follow. */
export type StreamShards = {
  /** Those that are there, each at its present end: what is over already ends when it is read first. */
  present(): Promise<readonly Place[]>;
  /** Those that are there since the last look, each at its beginning. */
  added(): Promise<readonly Place[]>;
  /** Holds on to the place, so that nothing that is written from now on is missed. */
  enter(place: Place): Promise<void>;
  /** Reads on from a place and moves it. */
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

/** After a long pause an iterator has expired, or the stream has dropped what comes next: it is entered again. */
function leave(place: Place, error: unknown): void {
  const isDropped = error instanceof TrimmedDataAccessException;
  if (!isDropped && !(error instanceof ExpiredIteratorException)) throw error;
  place.iterator = undefined;
  if (isDropped || place.lastRead === undefined) {
    // Nothing was read yet: the present end is not the one that it was entered at.
    if (place.begin === "LATEST" && place.enteredAt !== undefined)
      place.notBefore = minuteOf(place.enteredAt);
    place.begin = "TRIM_HORIZON";
  }
  if (!isDropped) return;
  place.lastRead = undefined;
}

const millisecondsPerMinute = 60_000;

/** What is known of a record's time: AWS says the second, DynamoDB Local the minute. */
function minuteOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / millisecondsPerMinute) * millisecondsPerMinute);
}
