import { readChange, type StreamRecord } from "../../adapters/streams/change-stream.ts";
import { isFields } from "../../domain/core/parse.ts";
import { consequencesOf } from "../../domain/message/consequences.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import { type Subscriber, wants } from "../../domain/message/subscribers.ts";
import { oneLine } from "../core/printable.ts";

/**
 * The messages that a change of the table leads to for one subscriber, as the relay sends them.
 * @param source the stage's, as in all its messages
 */
export function messagesOf(record: StreamRecord, subscriber: Subscriber, source: string): readonly Message[] {
  if (!isOfRecord(record.dynamodb?.NewImage)) return [];
  return consequencesOf(readChange(record), source).flatMap((consequence) =>
    consequence.do === "publish" && wants(subscriber, consequence.message.type) ? [consequence.message] : [],
  );
}

/** Only states and documents lead to messages. */
function isOfRecord(image: Readonly<Record<string, unknown>> | undefined): boolean {
  const key = isFields(image?.sk) ? String(image.sk.S) : "";
  return key === "STATE" || key.startsWith("DATA#");
}

/** A message on a line, in columns as far as that goes while more is to come. */
export function messageLine({ time, type, subject, id }: Message): string {
  return oneLine([time, type.padEnd(28), subject, id].join("  "));
}
