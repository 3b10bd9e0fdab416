import { createHash } from "node:crypto";
import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { RecordLine } from "../audit/read-records.ts";

/** Line of a table change, for changes of an event's record. */
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

/** Digest of the first receipt, without the counter that later ones increase. */
function digestOf({ receipts: _, ...said }: Record<string, unknown>): string {
  return createHash("sha256").update(JSON.stringify(said, inOrder)).digest("base64url");
}

/** Engines may return a map's fields in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
