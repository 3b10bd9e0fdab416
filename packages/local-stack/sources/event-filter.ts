/**
 * Filter criteria of event source mappings, in EventBridge's pattern language.
 *
 * Source: Lambda developer guide, "Filter rule syntax": exact values, null, exists, prefix; lists are
 * alternatives, all keys must match.
 */

import { PlanError } from "../assembly/problems.ts";
import { isObject } from "../gateway/operation.ts";

export type EventFilter = (record: unknown) => boolean;

/**
 * Parses one pattern, a JSON object in text.
 * @throws PlanError for an unsupported operator
 */
export function parseEventFilter(pattern: string): EventFilter {
  let parsed: unknown;
  try {
    parsed = JSON.parse(pattern);
  } catch {
    throw unknownPattern(pattern);
  }
  if (!isObject(parsed)) throw unknownPattern(pattern);
  return matcherOfObject(parsed);
}

type Matcher = (value: unknown) => boolean;

function matcherOfObject(pattern: Readonly<Record<string, unknown>>): Matcher {
  const fields = Object.entries(pattern).map(([key, nested]): [string, Matcher] => {
    if (Array.isArray(nested)) return [key, matcherOfAlternatives(nested)];
    if (isObject(nested) && key !== "$or") return [key, matcherOfObject(nested)];
    throw unknownPattern({ [key]: nested });
  });
  return (value) =>
    fields.every(([key, matches]) =>
      matches(isObject(value) && Object.hasOwn(value, key) ? value[key] : absent),
    );
}

/** A missing key, as opposed to null. */
const absent = Symbol("absent");

function matcherOfAlternatives(alternatives: readonly unknown[]): Matcher {
  const matchers = alternatives.map(matcherOfRule);
  return (value) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return matchers.some((matches) => values.some(matches));
  };
}

function matcherOfRule(rule: unknown): Matcher {
  if (!isObject(rule)) return (value) => value === rule;
  const [operator, ...others] = Object.keys(rule);
  if (operator === undefined || others.length > 0) throw unknownPattern(rule);
  const argument = rule[operator];
  switch (operator) {
    case "exists":
      return (value) => (value !== absent) === (argument === true);
    case "prefix":
      return (value) => typeof value === "string" && value.startsWith(String(argument));
    default:
      throw unknownPattern(rule);
  }
}

function unknownPattern(pattern: unknown): PlanError {
  const text = typeof pattern === "string" ? pattern : JSON.stringify(pattern);
  return new PlanError(
    `its filter pattern ${text} is not one that the local runner knows`,
    "Use exact values, null, exists or prefix.",
  );
}
