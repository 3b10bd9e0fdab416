import { isDeepStrictEqual } from "node:util";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { z } from "zod";
import { progressOf } from "../../../domain/event/event-progress.ts";
import { parseEvent } from "../../../domain/event/events.ts";
import { parseReceipts } from "../../../domain/event/receipts.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import { type Document, parseDocument } from "../../../domain/fetch/document.ts";
import type { Item } from "./tables.ts";

/** What the drill found in the engines. */
export type Found = {
  readonly before: readonly Item[];
  readonly after: readonly Item[];
  /** Of the objects in the bucket of bodies and documents. */
  readonly keys: readonly string[];
  /** Ids of whom was erased between backup and loss. */
  readonly erased: readonly string[];
  /** Of subscribers' messages since the loss. */
  readonly messages: readonly string[];
  /** Who is known to the provider, and came after the backup. */
  readonly unannounced: readonly string[];
};

/** What belongs to the present and is not restored: pacing, how far things are, tombstones. */
const notRestored = /^(PROVIDER|RECONCILE|REPLAY|ERASED|ERASURE)#/;

const keyed = z.object({ pk: z.string(), sk: z.string() });
const typed = z.object({ type: z.string() });
/** What goes on from where it was: a state's version, and the time that a document is as of, never fall. */
const rising = z.union([
  z.object({ state: z.object({ version: z.number() }) }).transform(({ state }) => state.version),
  z.object({ document: z.object({ asOf: z.number() }) }).transform(({ document }) => document.asOf),
]);

/** What is wrong after a restore, in words; empty where all is as it should be. */
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
