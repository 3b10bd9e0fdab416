import type { Attributes } from "../../../domain/event/attributes.ts";

/** A user's attributes, masked as personal data unless it is revealed. */
export function shownAttributes(attributes: Attributes, reveal: boolean): Attributes {
  return reveal ? attributes : Object.fromEntries(Object.keys(attributes).map((name) => [name, "(text)"]));
}
