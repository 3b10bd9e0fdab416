import { nameOf, type Subject } from "../event/subjects.ts";
import { attributesOf } from "./message.ts";
import type { Message } from "./message-schemas.ts";

/** A sequence that no version reaches, because nothing about a subject is newer than its erasure. */
const lastSequence = "9".repeat(20);

/**
 * Announces that a subject was erased. Returns the same message each time.
 * @param erasedAt time of the first erasure, ISO 8601
 * @param correlationId id of what caused the erasure
 */
export function messageOfErasure(
  subject: Subject,
  erasedAt: string,
  source: string,
  correlationId?: string,
): Message {
  const { kind, id } = subject;
  const common = { source, subject: nameOf(subject), version: 0 };
  const attributes = {
    ...attributesOf(common, `${common.subject}.erased.${erasedAt}`, erasedAt, correlationId),
    sequence: lastSequence,
  };
  switch (kind) {
    case "user":
      return { ...attributes, type: "user.erased", data: { userId: id } };
    case "account":
      return { ...attributes, type: "account.erased", data: { accountId: id } };
    case "company-account":
      return { ...attributes, type: "company-account.erased", data: { companyAccountId: id } };
  }
}
