import type { _Record } from "@aws-sdk/client-dynamodb-streams";

export type StreamRecord = ReturnType<typeof streamRecord>;

type Item = Readonly<Record<string, unknown>>;
type Attribute = { readonly M?: Attributes | undefined; readonly L?: readonly Attribute[] | undefined };
type Attributes = { readonly [name: string]: Attribute };

/**
 * Creates a record of a function's event.
 * Source: Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB", example event.
 * @param streamArn the event source's ARN in the mapping
 * @param readAt time of the read
 */
export function streamRecord(record: _Record, streamArn: string, region: string, readAt: Date) {
  const { dynamodb = {} } = record;
  return {
    eventID: record.eventID ?? "",
    eventName: record.eventName ?? "",
    eventVersion: record.eventVersion ?? "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: region,
    dynamodb: {
      /** Seconds since 1970. */
      ApproximateCreationDateTime: creationTime(dynamodb.ApproximateCreationDateTime, readAt),
      ...(dynamodb.Keys && { Keys: itemInEvent(dynamodb.Keys) }),
      ...(dynamodb.NewImage && { NewImage: itemInEvent(dynamodb.NewImage) }),
      ...(dynamodb.OldImage && { OldImage: itemInEvent(dynamodb.OldImage) }),
      SequenceNumber: dynamodb.SequenceNumber ?? "",
      SizeBytes: dynamodb.SizeBytes ?? 0,
      StreamViewType: dynamodb.StreamViewType ?? "",
    },
    eventSourceARN: streamArn,
  };
}

export function isOlder({ dynamodb }: StreamRecord, seconds: number, now: Date): boolean {
  return dynamodb.ApproximateCreationDateTime < now.getTime() / 1000 - seconds;
}

/**
 * Returns the creation time in seconds since 1970. A trap: DynamoDB Local truncates it to the minute, so a
 * record would look up to a minute too old; takes the latest time it can stand for.
 */
function creationTime(created: Date | undefined, readAt: Date): number {
  const seconds = Math.floor((created ?? readAt).getTime() / 1000);
  return seconds % 60 === 0 ? Math.min(seconds + 59, Math.floor(readAt.getTime() / 1000)) : seconds;
}

/** An item of a stream, as in a function's event. */
export function itemInEvent(attributes: Attributes): Item {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, inEvent(value)]));
}

/** A trap: in DynamoDB Local's stream, an empty map has no type. */
function inEvent(value: Attribute): Item {
  if (value.M !== undefined) return { M: itemInEvent(value.M) };
  if (value.L !== undefined) return { L: value.L.map(inEvent) };
  const plain = Object.entries(value).map(([type, nested]) => [type, encoded(nested)]);
  return plain.length === 0 ? { M: {} } : Object.fromEntries(plain);
}

/** Encodes binary values in base64: the SDK decodes them, but events carry base64. */
function encoded(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return Array.isArray(value) ? value.map(encoded) : value;
}
