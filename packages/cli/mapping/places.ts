import { isFields } from "../../../domain/core/parse.ts";
import {
  headerText,
  type MappedHeaders,
  type MappingSource,
  mayHoldCredential,
} from "../../../domain/event/mapping-source.ts";
import type { ReadSample } from "./sample.ts";
import { wordsOf } from "./words.ts";

/** A single value in a sample, and where it is. */
export type Place = {
  readonly source: MappingSource;
  /** Of all names on the way to it, in lower case: `data.accountId` has data, account and id. */
  readonly words: readonly string[];
  readonly value: string | number | boolean;
};

const deepest = 8;
const maxPlaces = 2_000;
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
// Others could not be written into an expression, or are names that every object has.
const usableName = /^[\p{L}\p{N}_.:@$/ -]{1,100}$/u;

/** Every single value of a sample that an expression or a header can name; lists of one count as what they hold. */
export function placesIn({ sample, body }: ReadSample): readonly Place[] {
  return [...inHeaders(sample.headers), ...inBody(body)];
}

function inHeaders(headers: MappedHeaders): readonly Place[] {
  return Object.entries(headers)
    .filter(([name]) => !mayHoldCredential(name))
    .map(([header, value]) => ({
      source: { header },
      words: wordsOf(header),
      value: headerText(header, value),
    }));
}

function inBody(body: unknown): readonly Place[] {
  const found: Place[] = [];
  const walk = (value: unknown, expression: string, words: readonly string[], depth: number): void => {
    if (found.length >= maxPlaces || depth > deepest) return;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      if (expression !== "") found.push({ source: expression, words, value });
    } else if (Array.isArray(value)) {
      if (value.length === 1) walk(value[0], `${expression}[0]`, words, depth + 1);
    } else if (isFields(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (!usableName.test(name) || name in Object.prototype) continue;
        const step = plainName.test(name) ? name : JSON.stringify(name);
        walk(
          member,
          expression === "" ? step : `${expression}.${step}`,
          [...words, ...wordsOf(name)],
          depth + 1,
        );
      }
    }
  };
  walk(body, "", [], 0);
  return found;
}
