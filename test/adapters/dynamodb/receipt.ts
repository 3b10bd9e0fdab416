import { randomUUID } from "node:crypto";
import type { Receipt } from "../../../adapters/dynamodb/event-table.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";

/** A receipt of an event, by default in a message of its own. */
export function receiptOf(
  event: IncomeEvent,
  body: Body = { type: "text", text: "{}" },
  messageId: string = randomUUID(),
): Receipt {
  return { event, body, message: { id: messageId, sentAt: Date.parse(event.receivedAt) } };
}
