import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";

/**
 * Reads a table's stream from its beginning: each call reads a page of every shard.
 * @returns the number of records found
 */
export function streamReader(
  streams: DynamoDBStreamsClient,
  StreamArn: string,
  take: (records: readonly _Record[]) => void,
): () => Promise<number> {
  const iterators = new Map<string, string | undefined>();
  return async () => {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
    let found = 0;
    for (const { ShardId = "" } of StreamDescription?.Shards ?? []) {
      if (!iterators.has(ShardId)) {
        const from = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" as const };
        iterators.set(ShardId, (await streams.send(new GetShardIteratorCommand(from))).ShardIterator);
      }
      const ShardIterator = iterators.get(ShardId);
      if (ShardIterator === undefined) continue;
      const { Records = [], NextShardIterator } = await streams.send(
        new GetRecordsCommand({ ShardIterator }),
      );
      iterators.set(ShardId, NextShardIterator);
      found += Records.length;
      take(Records);
    }
    return found;
  };
}
