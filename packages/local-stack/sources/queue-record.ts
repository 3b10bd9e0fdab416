import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";
import type { EventFilter } from "./event-filter.ts";

/**
 * A received message as a function sees it.
 * Source: Lambda developer guide, "Example standard queue message event".
 */
export function queueRecord(
  message: Message,
  plan: { readonly queue: { readonly arn: string } },
  region: string,
) {
  const { MD5OfMessageAttributes: md5 } = message;
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, attribute(value)]),
    ),
    ...(md5 !== undefined && { md5OfMessageAttributes: md5 }),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: plan.queue.arn,
    awsRegion: region,
  };
}

export type QueueRecord = ReturnType<typeof queueRecord>;

function attribute(value: MessageAttributeValue) {
  const { StringValue: text, BinaryValue: bytes } = value;
  return {
    ...(text !== undefined && { stringValue: text }),
    ...(bytes !== undefined && { binaryValue: Buffer.from(bytes).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? "String",
  };
}

/** Whether one of the filters takes the message; a pattern for the body sees it as JSON where it is JSON. */
export function isTaken(record: QueueRecord, filters: readonly EventFilter[]): boolean {
  if (filters.length === 0) return true;
  const filtered = { ...record, body: parsedBody(record.body) };
  return filters.some((matches) => matches(filtered));
}

function parsedBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
