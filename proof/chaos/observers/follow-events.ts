import { createHash } from "node:crypto";
import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { RecordLine } from "../audit/read-records.ts";
import type { Reading } from "./protocol.ts";
import { readOn } from "./read-on.ts";

/** Follows the records of events in a table's stream, from its beginning. */
export function followEvents(
  streams: DynamoDBStreamsClient,
  StreamArn: string,
  record: (line: RecordLine) => void,
): Reading {
  const iterators = new Map<string, string | undefined>();
  const openNew = async (): Promise<void> => {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
    for (const { ShardId = "" } of StreamDescription?.Shards ?? []) {
      if (iterators.has(ShardId)) continue;
      const from = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" as const };
      iterators.set(ShardId, (await streams.send(new GetShardIteratorCommand(from))).ShardIterator);
    }
  };
  return readOn(async () => {
    await openNew();
    let found = 0;
    for (const [shard, ShardIterator] of iterators) {
      if (ShardIterator === undefined) continue;
      const { Records = [], NextShardIterator } = await streams.send(
        new GetRecordsCommand({ ShardIterator }),
      );
      iterators.set(shard, NextShardIterator);
      found += Records.length;
      for (const line of Records.flatMap(lineOf)) record(line);
    }
    return found;
  });
}

export function lineOf({
  eventName,
  dynamodb: { Keys, NewImage, OldImage } = {},
}: _Record): readonly RecordLine[] {
  const { pk, sk } = unmarshall(Object(Keys));
  if (typeof sk !== "string" || !sk.startsWith("EVENT#")) return [];
  const image = unmarshall(Object(NewImage ?? OldImage));
  return [
    { change: String(eventName), key: `${pk} ${sk}`, id: String(image.event?.id), digest: digestOf(image) },
  ];
}

/** Of all that the first receipt said: what later ones count is left out. */
function digestOf({ receipts: _, ...said }: Record<string, unknown>): string {
  return createHash("sha256").update(JSON.stringify(said, inOrder)).digest("base64url");
}

/** An engine may give a map's fields in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
