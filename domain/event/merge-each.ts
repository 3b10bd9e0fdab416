import { isFields } from "../core/parse.ts";
import { isRawNumber } from "./lossless-json.ts";

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
