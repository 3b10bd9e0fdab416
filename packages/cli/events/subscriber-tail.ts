import { type MonthlyIncome, monthlyIncome } from "@income-events/subscriber";
import { contentOfDocument, textOfContent } from "../../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { readChange, type StreamRecord } from "../../../adapters/streams/change-stream.ts";
import { mask } from "../../../domain/core/mask.ts";
import { fieldsOf, textOf } from "../../../domain/core/parse.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { addressedTo } from "../../../domain/message/document-reference.ts";
import {
  type MessageOrigin,
  type Subscriber,
  wants,
  withAttributes,
} from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { oneLine } from "../core/text.ts";
import type { KnownRecords } from "../records/known-records.ts";
import { isOfEvents } from "./event-tail.ts";

/**
 * The messages that the relay sends to one subscriber because of a change of the table.
 * @param origin the stage's, as in its messages
 */
export function messagesOf(
  record: StreamRecord,
  subscriber: Subscriber,
  origin: MessageOrigin,
): readonly Message[] {
  if (!isOfEvents(record.dynamodb?.NewImage)) return [];
  // Ranges only matter for tasks.
  const settings = { ...origin, readByRange: [] };
  return consequencesOf(readChange(record), settings).flatMap((consequence) =>
    consequence.type === "publish" && wants(subscriber, consequence.message.type)
      ? [addressedTo(consequence.message, subscriber.name)]
      : [],
  );
}

/** Adds the attributes of the message's user, as the relay does. */
export async function addAttributes(
  message: Message,
  loadState: KnownRecords["loadState"],
): Promise<Message> {
  const id = "userId" in message.data ? message.data.userId : undefined;
  const user = id === undefined ? undefined : await loadState({ kind: "user", id });
  return user === undefined || message.type.startsWith("user.") ? message : withAttributes(message, user);
}

/**
 * Income by month of the announced document; undefined if it is not an income document in the default form.
 */
export async function incomeOf(
  record: StreamRecord,
  message: Message,
  overflow: Pick<OverflowBucket, "get">,
): Promise<readonly MonthlyIncome[] | undefined> {
  if (message.type !== "data.updated" || message.data.endpoint !== "income") return undefined;
  const change = readChange(record);
  if (change.type !== "document" || change.storage === undefined) return undefined;
  const { after, storage } = change;
  const content = await contentOfDocument({ document: after, storage }, overflow);
  if (content === undefined) return undefined;
  try {
    const { data } = fieldsOf(JSON.parse(textOfContent(content.parts, after.contentType)), "document");
    const payments = Array.isArray(data) ? data.map((each) => paymentOf(each)) : [];
    return monthlyIncome([{ href: message.data.document?.href ?? "", data: payments }]);
  } catch {
    return undefined;
  }
}

function paymentOf(value: unknown) {
  const fields = fieldsOf(value, "payment");
  return {
    id: textOf(fields, "id"),
    paid_at: textOf(fields, "paid_at"),
    currency: textOf(fields, "currency"),
    gross: textOf(fields, "gross"),
    net: textOf(fields, "net"),
  };
}

type ShownMessage = Omit<Message, "data"> & { readonly data: object };

/** Masks the attributes of a message's user. */
export function maskAttributes(message: ShownMessage): ShownMessage {
  if (!("attributes" in message.data)) return message;
  return { ...message, data: { ...message.data, attributes: mask(message.data.attributes) } };
}

/** A message in one line, in approximate columns, because later lines are unknown. */
export function messageLine(
  { time, type, subject, id, data }: ShownMessage,
  income: readonly MonthlyIncome[] = [],
): string {
  const attributes = "attributes" in data ? [JSON.stringify(data.attributes)] : [];
  const months = income.map(({ month, net, currency }) => `${month} ${net} ${currency}`);
  return oneLine([time, type.padEnd(28), subject, id, ...attributes, ...months].join("  "));
}
