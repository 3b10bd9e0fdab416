import { randomUUID } from "node:crypto";

/** What a FIFO queue asks for beside a message's body; a standard queue takes neither. Each message is in a group of its own. */
export function fifoOrder(queueUrl: string): {
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
} {
  if (!queueUrl.endsWith(".fifo")) return {};
  return { MessageGroupId: randomUUID(), MessageDeduplicationId: randomUUID() };
}
