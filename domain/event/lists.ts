import { isFields } from "../core/parse.ts";
import { isRawNumber } from "./lossless-json.ts";

/** Whether a JSON value contains a list of several elements. */
export function hasSeveral(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 1 || value.some(hasSeveral);
  return isFields(value) && !isRawNumber(value) && Object.values(value).some(hasSeveral);
}

/** Maximum rotations to try: elements that are equal in a field can hide a different one. */
const maxRotations = 64;

/**
 * Whether a search picks one of several list elements by position, and so drops the others. A search that
 * picks an element by content finds the same one in any order.
 * @param find finds one value that is neither a list nor an object
 */
export function takesByPosition(body: unknown, find: (body: unknown) => unknown): boolean {
  const value = JSON.stringify(find(body));
  const isFoundIn = (changed: unknown) => JSON.stringify(find(changed)) === value;
  // Most webhooks lack most fields, so one rotation is enough if nothing is found.
  const isNothing = value === undefined;
  if (!isNothing && isFoundIn(withLists(body, (list) => (list.length > 1 ? [] : list)))) return false;
  const rotations = Math.min(longestList(body) - 1, isNothing ? 1 : maxRotations);
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

/**
 * The mapping function `merge_each(list, object)`. Adds the object's strings, numbers and booleans to each
 * element. Skips the object's lists and objects, which hold other elements. An element's own member wins
 * unless it is null. An element that is not an object becomes the member `element`.
 * @returns a value that is not a list unchanged
 */
export function mergeEach(list: unknown, object: unknown): unknown {
  if (!Array.isArray(list)) return list ?? null;
  const shared = isObject(object) ? Object.fromEntries(Object.entries(object).filter(isSingle)) : {};
  return list.map((element: unknown) => {
    if (!isObject(element)) return { ...shared, element };
    const own = Object.entries(element).filter(
      ([name, value]) => value !== null || !Object.hasOwn(shared, name),
    );
    return { ...shared, ...Object.fromEntries(own) };
  });
}

function isObject(value: unknown): value is object {
  return isFields(value) && !isRawNumber(value);
}

function isSingle([, value]: readonly [string, unknown]): boolean {
  return ["string", "number", "boolean"].includes(typeof value) || isRawNumber(value);
}
