import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Change } from "../domain/changes.ts";
import { parseDataSet } from "../domain/data-set.ts";
import { parseEvent } from "../domain/events.ts";
import { permanent } from "../domain/failures.ts";
import { type Fields, numberOf, textOf } from "../domain/parse.ts";
import { parseState } from "../domain/state.ts";
import { readItem } from "./items.ts";

/** A record of the table's stream, as Lambda hands it over; the types of `@types/aws-lambda` claim more. */
export type StreamRecord = {
  readonly dynamodb?:
    | {
        readonly SequenceNumber?: string | undefined;
        readonly OldImage?: Record<string, unknown> | undefined;
        readonly NewImage?: Record<string, unknown> | undefined;
      }
    | undefined;
};

/**
 * Reads a stream record as a change of the domain.
 * @throws permanent failure naming the field that is wrong: the record then ends in the failure destination; a retryable
 * one where it is of a later release
 */
export function readChange(record: StreamRecord): Change {
  const after = readImage(record.dynamodb?.NewImage);
  if (after === undefined) throw permanent("NewImage: missing");
  const before = readImage(record.dynamodb?.OldImage);
  const sortKey = textOf(after, "sk");
  if (sortKey.startsWith("EVENT#")) {
    return { of: "event", event: parseEvent(after.event), receipts: numberOf(after, "receipts") };
  }
  if (sortKey === "STATE") {
    return { of: "state", before: before && parseState(before.state), after: parseState(after.state) };
  }
  if (sortKey.startsWith("DATA#")) {
    return { of: "data", before: before && parseDataSet(before.data), after: parseDataSet(after.data) };
  }
  throw permanent("sk: the stream's filter should have left this record out");
}

function readImage(image: Record<string, unknown> | undefined): Fields | undefined {
  if (image === undefined) return undefined;
  // The image is what our own writes made it; unmarshall throws on anything that is no attribute value.
  return readItem(image as Record<string, AttributeValue>);
}
