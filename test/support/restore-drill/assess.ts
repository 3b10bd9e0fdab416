import { isDeepStrictEqual } from "node:util";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { z } from "zod";
import { progressOf } from "../../../domain/event/event-progress.ts";
import { parseEvent } from "../../../domain/event/events.ts";
import { parseReceipts } from "../../../domain/event/receipts.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import { type Document, parseDocument } from "../../../domain/fetch/document.ts";
import type { Item } from "./tables.ts";

/** Contents of the engines before the loss and after the restore. */
export type Found = {
  readonly before: readonly Item[];
  readonly after: readonly Item[];
  /** Keys of the objects in the bucket of bodies and documents. */
  readonly keys: readonly string[];
  /** Ids of subjects that were erased between backup and loss. */
  readonly erased: readonly string[];
  /** Subscribers' messages since the loss. */
  readonly messages: readonly string[];
  /** Ids of users who registered at the provider after the backup. */
  readonly unannounced: readonly string[];
};

/** Items that a restore leaves out: pacing, progress, tombstones. */
const notRestored = /^(PROVIDER|RECONCILE|REPLAY|ERASED|ERASURE)#/;

const keyed = z.object({ pk: z.string(), sk: z.string() });
const typed = z.object({ type: z.string() });
/** Values that must not decrease: a state's version and a document's `asOf`. */
const rising = z.union([
  z.object({ state: z.object({ version: z.number() }) }).transform(({ state }) => state.version),
  z.object({ document: z.object({ asOf: z.number() }) }).transform(({ document }) => document.asOf),
]);

/** The problems after a restore, one sentence each. */
export function problemsOf({ before, after, keys, erased, messages, unannounced }: Found): readonly string[] {
  const isErased = (text: string) => erased.some((id) => text.includes(id));
  const found = new Map(after.map((item) => [keyOf(item), unmarshall(item)]));
  const expected = before.filter((item) => !notRestored.test(keyOf(item)) && !isErased(JSON.stringify(item)));
  return [
    ...[...found.entries()]
      .filter(([, item]) => isErased(JSON.stringify(item)))
      .map(([key]) => `an erased user is back: ${key}`),
    ...keys.filter(isErased).map((key) => `an erased user's object is back: ${key}`),
    ...messages
      .filter((message) => isErased(message) && !isErasureMessage(message))
      .map(() => "a subscriber was sent an erased user"),
    ...expected.flatMap((item) => lossOf(keyOf(item), unmarshall(item), found.get(keyOf(item)))),
    ...eventsBehind(found),
    ...unannounced
      .filter((id) => !found.has(`USER#${id}#STATE`))
      .map((id) => `user ${id} was not found again`),
    ...(messages.length === 0 ? ["no subscriber was sent anything"] : []),
  ];
}

function lossOf(
  key: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>> | undefined,
): readonly string[] {
  if (after === undefined) return [`${key} is missing`];
  const [was, is] = [rising.safeParse(before), rising.safeParse(after)];
  if (was.success && (!is.success || is.data < was.data)) {
    return [`${key} started over: ${is.data ?? "nothing"} after ${was.data}`];
  }
  const isEvent = key.includes("#EVENT#");
  return isEvent && !isDeepStrictEqual(before.event, after.event) ? [`${key} is another event`] : [];
}

function isErasureMessage(message: string): boolean {
  return typed.parse(JSON.parse(message)).type.endsWith(".erased");
}

/** Events whose documents were not read since. */
function eventsBehind(found: ReadonlyMap<string, Readonly<Record<string, unknown>>>): readonly string[] {
  const documents = Map.groupBy(
    [...found.values()].flatMap(({ document }): readonly Document[] =>
      document === undefined ? [] : [parseDocument(document)],
    ),
    ({ subject }) => nameOf(subject),
  );
  return [...found].flatMap(([key, item]) => {
    if (!key.includes("#EVENT#")) return [];
    const event = parseEvent(item.event);
    if (event.endpoint === undefined) return [];
    const records = { state: undefined, documents: documents.get(nameOf(subjectOf(event))) ?? [] };
    const { state } = progressOf({ event, receipts: parseReceipts(item.receipts) }, records);
    return state === "done" ? [] : [`what ${key} announced was not fetched again`];
  });
}

function keyOf(item: Item): string {
  const { pk, sk } = keyed.parse(unmarshall(item));
  return `${pk}#${sk}`;
}
