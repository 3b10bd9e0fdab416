import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, numberOf, textOf } from "../../domain/core/parse.ts";
import { parseEvent } from "../../domain/event/events.ts";
import { parseReceipts } from "../../domain/event/receipts.ts";
import { parseSubject } from "../../domain/event/subjects.ts";
import { parseDocument, type SupersededObject } from "../../domain/fetch/document.ts";
import { parseDataName } from "../../domain/fetch/document-name.ts";
import { parseAccountReadiness, parseUserReadiness } from "../../domain/readiness/stored-readiness.ts";
import type { Change } from "../../domain/state/change.ts";
import { parseState } from "../../domain/state/state.ts";
import { readStorage } from "../dynamodb/documents.ts";
import { canaryPrefix, documentPrefix, readItem } from "../dynamodb/keys.ts";

/** A record of the table's stream as Lambda passes it; `@types/aws-lambda` promises more fields. */
export type StreamRecord = {
  readonly dynamodb?:
    | {
        readonly SequenceNumber?: string | undefined;
        /** Epoch seconds if Lambda passes it. */
        readonly ApproximateCreationDateTime?: number | Date | undefined;
        readonly OldImage?: Record<string, unknown> | undefined;
        readonly NewImage?: Record<string, unknown> | undefined;
      }
    | undefined;
};

/**
 * Reads a stream record as a change of the domain.
 * @throws permanent failure naming the invalid field, which sends the record to the failure destination; retryable
 * failure if a later release wrote it
 */
export function readChange(record: StreamRecord): Change {
  const after = readImage(record.dynamodb?.NewImage);
  if (after === undefined) throw permanent("NewImage: missing");
  return changeOf(readImage(record.dynamodb?.OldImage), after);
}

/**
 * Reads the record of a deleted item. The stream's filter passes only items that pointed to an object and could expire.
 * @returns the object of an item that had expired, or none if it was deleted earlier; undefined if the item still exists
 * @throws permanent failure naming the invalid field
 */
export function readExpired({ dynamodb }: StreamRecord): readonly SupersededObject[] | undefined {
  const before = dynamodb?.NewImage === undefined ? readImage(dynamodb?.OldImage) : undefined;
  if (before === undefined) return undefined;
  const deletedAt = dynamodb?.ApproximateCreationDateTime;
  if (typeof deletedAt !== "number" || numberOf(before, "expiresAt") > deletedAt) return [];
  const fields = fieldsOf(before.document, "document");
  return [
    {
      subject: parseSubject(fields.subject),
      name: parseDataName(fields),
      announced: numberOf(fields, "announced"),
      object: textOf(fields, "object"),
    },
  ];
}

/** The id in the record of a new canary; undefined for any other record. */
export function readCanary({ dynamodb }: StreamRecord): string | undefined {
  const { S: sortKey } = Object(dynamodb?.NewImage?.sk);
  const isCanary = typeof sortKey === "string" && sortKey.startsWith(canaryPrefix);
  return isCanary ? sortKey.slice(canaryPrefix.length) : undefined;
}

/**
 * Reads an item of the table as a change of the domain.
 * @param before the previous item; undefined if the item is new or its previous value unknown
 * @throws permanent failure naming the invalid field
 */
export function changeOf(before: Fields | undefined, after: Fields): Change {
  const sortKey = textOf(after, "sk");
  if (sortKey.startsWith("EVENT#")) {
    const countBefore = before === undefined ? 0 : parseReceipts(before.receipts).count;
    return {
      type: "event",
      event: parseEvent(after.event),
      receipts: parseReceipts(after.receipts),
      countBefore,
    };
  }
  if (sortKey === "STATE") {
    return { type: "state", before: before && parseState(before.state), after: parseState(after.state) };
  }
  if (sortKey === "READINESS" && isUser(after.readiness)) {
    return {
      type: "userReadiness",
      before: before && parseUserReadiness(before.readiness),
      after: parseUserReadiness(after.readiness),
    };
  }
  if (sortKey === "READINESS") {
    return {
      type: "readiness",
      before: before && parseAccountReadiness(before.readiness),
      after: parseAccountReadiness(after.readiness),
    };
  }
  if (sortKey.startsWith(documentPrefix)) {
    const storage = readStorage(withBytes(fieldsOf(after.document, "document")));
    return {
      type: "document",
      before: before && parseDocument(before.document),
      after: parseDocument(after.document),
      ...(storage.codec !== undefined && { storage }),
    };
  }
  throw permanent("sk: the stream's filter should have left this record out");
}

/** Whether a readiness is a user's, not an account's. */
function isUser(readiness: unknown): boolean {
  return parseSubject(fieldsOf(readiness, "readiness").subject).kind === "user";
}

/** Lambda passes bytes as base64, and so does `writeChange`. */
function withBytes(document: Fields): Fields {
  const { content } = document;
  return typeof content === "string" ? { ...document, content: Buffer.from(content, "base64") } : document;
}

function readImage(image: Record<string, unknown> | undefined): Fields | undefined {
  if (image === undefined) return undefined;
  // The relay does not need an event's body, which is most of its item.
  const { body: _, ...read } = image;
  // Our own writes made the image; unmarshall throws on anything that is not an attribute value.
  return readItem(read as Record<string, AttributeValue>);
}
