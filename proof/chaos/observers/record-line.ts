import { createHash } from "node:crypto";
import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { RecordLine } from "../audit/read-records.ts";

/** What is recorded of a change of the table: that of an event's record. */
export function lineOf({
  eventName,
  dynamodb: { Keys, NewImage, OldImage } = {},
}: _Record): readonly RecordLine[] {
  const { pk, sk } = unmarshall(Object(Keys));
  if (typeof sk !== "string" || !sk.startsWith("EVENT#")) return [];
  const image = unmarshall(Object(NewImage ?? OldImage));
  return [
    { change: String(eventName), key: `${pk} ${sk}`, id: String(image.event?.id), digest: digestOf(image) },
  ];
}

/** Of all that the first receipt said: what later ones count is left out. */
function digestOf({ receipts: _, ...said }: Record<string, unknown>): string {
  return createHash("sha256").update(JSON.stringify(said, inOrder)).digest("base64url");
}

/** An engine may give a map's fields in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
