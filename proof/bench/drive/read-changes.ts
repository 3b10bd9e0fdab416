import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import type { EventFilter } from "@income-events/local-stack/sources/event-filter.ts";
import { type StreamRecord, streamRecord } from "@income-events/local-stack/sources/stream-record.ts";

/** Gives the changes that a function would be handed, in order, since the last call. */
export type ChangeReader = () => Promise<readonly StreamRecord[]>;

export function readChanges(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  region: string,
  isTaken: EventFilter,
): ChangeReader {
  const iterators = new Map<string, string | undefined>();
  const readShard = async (shardId: string): Promise<readonly StreamRecord[]> => {
    const records: StreamRecord[] = [];
    for (;;) {
      const ShardIterator = iterators.get(shardId);
      if (ShardIterator === undefined) return records;
      const { Records = [], NextShardIterator } = await client.send(new GetRecordsCommand({ ShardIterator }));
      iterators.set(shardId, NextShardIterator);
      if (Records.length === 0) return records;
      records.push(...Records.map((record) => streamRecord(record, StreamArn, region, new Date())));
    }
  };
  return async () => {
    const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
    const records: StreamRecord[] = [];
    for (const { ShardId = "" } of StreamDescription?.Shards ?? []) {
      if (!iterators.has(ShardId)) {
        const position = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" as const };
        iterators.set(ShardId, (await client.send(new GetShardIteratorCommand(position))).ShardIterator);
      }
      records.push(...(await readShard(ShardId)));
    }
    return records.filter(isTaken);
  };
}
