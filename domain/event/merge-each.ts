import { isFields } from "../core/parse.ts";
import { isRawNumber } from "./lossless-json.ts";

/**
 * The function `merge_each(list, object)` of mapping expressions: each element with the object's texts, numbers and
 * booleans, which stand beside the list for all its elements. The object's lists and objects are left out: they hold
 * other elements. A member of the element wins, unless it is null. An element that is no object stands under `element`.
 * @returns what is no list as it is
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
