import { isFields } from "../core/parse.ts";
import { isRawNumber } from "./lossless-json.ts";

/** Whether a JSON value has a list of several elements. */
export function hasSeveral(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 1 || value.some(hasSeveral);
  return isFields(value) && !isRawNumber(value) && Object.values(value).some(hasSeveral);
}

/** Elements that are equal in a field can hide one behind them; so many are looked behind. */
const mostRotations = 64;

/**
 * Whether a search takes one of several elements of a list by its position, and so drops the others. One that selects
 * an element by what it holds finds the same in any order.
 * @param find finds one value, which is no list and no object
 */
export function takesByPosition(body: unknown, find: (body: unknown) => unknown): boolean {
  const value = JSON.stringify(find(body));
  const isFoundIn = (changed: unknown) => JSON.stringify(find(changed)) === value;
  // Most fields are in few webhooks: one rotation is enough where none is found.
  const isNothing = value === undefined;
  if (!isNothing && isFoundIn(withLists(body, (list) => (list.length > 1 ? [] : list)))) return false;
  const rotations = Math.min(longestList(body) - 1, isNothing ? 1 : mostRotations);
  for (let by = 1; by <= rotations; by += 1) {
    if (!isFoundIn(withLists(body, (list) => rotated(list, by)))) return true;
  }
  return false;
}

type List = readonly unknown[];

function withLists(value: unknown, change: (list: List) => List): unknown {
  if (Array.isArray(value)) return change(value).map((element) => withLists(element, change));
  if (!isFields(value) || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withLists(member, change)]));
}

function rotated(list: List, by: number): List {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function longestList(value: unknown): number {
  if (!isFields(value) && !Array.isArray(value)) return 0;
  const members: List = Object.values(value);
  const own = Array.isArray(value) ? value.length : 0;
  return members.reduce<number>((longest, member) => Math.max(longest, longestList(member)), own);
}
