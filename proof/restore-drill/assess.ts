import { isDeepStrictEqual } from "node:util";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { z } from "zod";
import type { Item } from "./tables.ts";

/** What the drill found in the engines. */
export type Found = {
  readonly before: readonly Item[];
  readonly after: readonly Item[];
  /** Ids of whom was erased between backup and loss. */
  readonly erased: readonly string[];
  /** Of subscribers' messages since the loss. */
  readonly messages: readonly string[];
  /** Who is known to the provider, and came after the backup. */
  readonly unannounced: readonly string[];
};

/** What belongs to the present and is not restored: pacing, claims, how far things are, tombstones. */
const notRestored = /^(PROVIDER|RECONCILE|ERASED|ERASURE)#?|#CLAIM#/;

const keyed = z.object({ pk: z.string(), sk: z.string() });
const typed = z.object({ type: z.string() });
const dataSet = z.object({ data: z.object({ wanted: z.number(), done: z.number() }) });

/** What is wrong after a restore, in words; empty where all is as it should be. */
export function problemsOf({ before, after, erased, messages, unannounced }: Found): readonly string[] {
  const isErased = (text: string) => erased.some((id) => text.includes(id));
  const found = new Map(after.map((item) => [keyOf(item), unmarshall(item)]));
  const expected = before.filter((item) => !notRestored.test(keyOf(item)) && !isErased(JSON.stringify(item)));
  return [
    ...[...found.entries()]
      .filter(([, item]) => isErased(JSON.stringify(item)))
      .map(([key]) => `an erased user is back: ${key}`),
    ...messages
      .filter((message) => isErased(message) && !isErasureMessage(message))
      .map(() => "a subscriber was sent an erased user"),
    ...expected.flatMap((item) => lossOf(keyOf(item), unmarshall(item), found.get(keyOf(item)))),
    ...[...found].flatMap(([key, item]) => (isBehind(item) ? [`${key} was not fetched again`] : [])),
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
  // States and documents go on from where they were: their versions rise, and never fall.
  if (typeof before.version === "number" && Number(after.version) < before.version) {
    return [`${key} started over: version ${after.version} after ${before.version}`];
  }
  const isEvent = key.includes("#EVENT#");
  return isEvent && !isDeepStrictEqual(before.event, after.event) ? [`${key} is another event`] : [];
}

function isErasureMessage(message: string): boolean {
  return typed.parse(JSON.parse(message)).type.endsWith(".erased");
}

function isBehind(item: unknown): boolean {
  const { success, data } = dataSet.safeParse(item);
  return success && data.data.done < data.data.wanted;
}

function keyOf(item: Item): string {
  const { pk, sk } = keyed.parse(unmarshall(item));
  return `${pk}#${sk}`;
}
