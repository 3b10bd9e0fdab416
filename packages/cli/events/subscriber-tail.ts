import { readChange, type StreamRecord } from "../../../adapters/streams/change-stream.ts";
import { isFields } from "../../../domain/core/parse.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { addressedTo } from "../../../domain/message/document-reference.ts";
import type { MessageOrigin } from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { type Subscriber, wants } from "../../../domain/message/subscribers.ts";
import { oneLine } from "../core/printable.ts";

/**
 * The messages that a change of the table leads to for one subscriber, as the relay sends them.
 * @param origin the stage's, as in all its messages
 */
export function messagesOf(
  record: StreamRecord,
  subscriber: Subscriber,
  origin: MessageOrigin,
): readonly Message[] {
  if (!leadsToMessages(record.dynamodb?.NewImage)) return [];
  // Which dates are read by matters to tasks alone.
  const settings = { ...origin, readByRange: [] };
  return consequencesOf(readChange(record), settings).flatMap((consequence) =>
    consequence.type === "publish" && wants(subscriber, consequence.message.type)
      ? [addressedTo(consequence.message, subscriber.name)]
      : [],
  );
}

/** Only events, states and documents do. */
function leadsToMessages(image: Readonly<Record<string, unknown>> | undefined): boolean {
  const key = isFields(image?.sk) ? String(image.sk.S) : "";
  return key === "STATE" || key.startsWith("EVENT#") || key.startsWith("DOCUMENT#");
}

/** A message on a line, in columns as far as that goes while more is to come. */
export function messageLine({ time, type, subject, id }: Message): string {
  return oneLine([time, type.padEnd(28), subject, id].join("  "));
}
