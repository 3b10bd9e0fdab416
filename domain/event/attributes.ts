import { fieldsOf, isFields, numberOf, optionalText, parseTexts, present } from "../core/parse.ts";
import type { Attributes, IncomeEvent, Outcome } from "./events.ts";
import { isClean } from "./json.ts";
import { isRawNumber } from "./lossless-json.ts";
import type { Search } from "./mapping-source.ts";
import { canonicalId } from "./subjects.ts";

/** The setting `mapping.users.attributes`: an expression for each attribute name. */
export type AttributeExpressions = Readonly<Record<string, string>>;

export const mostAttributes = 10;
/** Maximum UTF-8 bytes of one value, and of all names and values together. */
const longestValue = 256;
const longestInAll = 1_024;

/**
 * Reads a user's attributes from a webhook or from the provider's answer. Fields of `data` are found like
 * top-level fields. If the object that contains a value exists, such as `metadata` in `metadata.loan_id`, it
 * replaces all attributes, even if it is empty. If it is null or missing, the attributes are unknown.
 * @param body as `parseExact` returns it
 */
export function attributesIn(
  expressions: AttributeExpressions,
  body: unknown,
  userId: string | undefined,
  search: Search,
): {
  /** All attributes of the user; undefined if the body does not report them. */
  readonly attributes?: Attributes;
  /** Names of attributes that were skipped: an object, a list, too long, or not evaluable. */
  readonly leftOut: readonly string[];
} {
  if (!isFields(body)) return { leftOut: [] };
  const user = isFields(body.data) ? body.data : body;
  const view = { ...user, data: user, ...body };
  const found = Object.entries(expressions).map(([name, expression]) => {
    return { name, expression, value: evaluate(expression, view, search) };
  });
  const replaces = ({ expression, value }: (typeof found)[number]) =>
    (value !== undefined && value !== notEvaluable) ||
    parentsOf(expression).some((path) => isKeptObject(evaluate(path, view, search), userId));
  const { attributes, leftOut } = fitting(found);
  return found.some(replaces) ? { attributes, leftOut } : { leftOut };
}

/** Keeps as many values as fit, in the order of the settings. */
function fitting(found: readonly { readonly name: string; readonly value: unknown }[]) {
  const attributes: Record<string, string> = {};
  const leftOut: string[] = [];
  let left = longestInAll;
  for (const { name, value } of found) {
    if (value === undefined || value === "") continue;
    const text = textOf(value);
    const bytes = Buffer.byteLength(text ?? "");
    const all = Buffer.byteLength(name) + bytes;
    if (text !== undefined && isClean(text) && bytes <= longestValue && all <= left) {
      attributes[name] = text;
      left -= all;
    } else leftOut.push(name);
  }
  return { attributes, leftOut };
}

const notEvaluable = Symbol("not evaluable");

function evaluate(expression: string, data: unknown, search: Search): unknown {
  try {
    return search(expression, data) ?? undefined;
  } catch {
    return notEvaluable;
  }
}

/** A string, or a number or boolean as JSON writes it. */
function textOf(value: unknown): string | undefined {
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** Whether the value is an attributes object, and not the user, any of whose fields may be missing. */
function isKeptObject(value: unknown, userId: string | undefined): boolean {
  if (!isFields(value) || isRawNumber(value)) return false;
  const texts = Object.values(value).map(textOf);
  return !texts.some((text) => text !== undefined && canonicalId(text) === userId);
}

const step = String.raw`(?:[A-Za-z_]\w*|"(?:\\.|[^"\\])*")`;
const plainPath = new RegExp(String.raw`^${step}(?:\.${step})*$`);
const lastStep = new RegExp(String.raw`\.${step}$`);

/** The parents of a value, for each alternative that is a plain path: `a` and `a.b` for `a.b.c || d`. */
function parentsOf(expression: string): readonly string[] {
  return expression.split("||").flatMap((alternative) => {
    const path = alternative.trim();
    return plainPath.test(path) ? parentsOfPath(path) : [];
  });
}

function parentsOfPath(path: string): readonly string[] {
  const parent = path.replace(lastStep, "");
  return parent === path ? [] : [parent, ...parentsOfPath(parent)];
}

export type StoredAttributes = ReturnType<typeof parseStoredAttributes>;

/** An event that reports a user's attributes; `since` as in `StoredAttributes`. */
export type Report = Pick<IncomeEvent, "type" | "time"> & {
  readonly values: Attributes;
  readonly since: number;
};

/**
 * @param asks whether to query the provider if no time tells which report is newer; otherwise the one sent
 * last wins
 */
export function outcomeOfReport(
  stored: StoredAttributes | undefined,
  report: Report,
  asks: boolean,
): Outcome {
  if (stored === undefined) return "applied";
  if (areEqual(stored.values, report.values)) return "agreed";
  switch (compare(stored, report)) {
    case "newer":
      return "applied";
    case "older":
      return "stale";
    case "unordered":
      if (asks) return "unconfirmed";
      return isLater(stored, report) ? "applied" : "stale";
  }
}

function compare(stored: StoredAttributes, { type, time }: Report): "newer" | "older" | "unordered" {
  const isCreation = type === "user.created";
  if (isCreation !== (stored.isCreation === true)) return isCreation ? "older" : "newer";
  if (time === undefined || stored.time === undefined || time === stored.time) return "unordered";
  return time < stored.time ? "older" : "newer";
}

function isLater(stored: StoredAttributes, { since }: Report): boolean {
  return since > stored.since;
}

/** The stored attributes after a report. @param version the version of the resulting state */
export function afterReport(
  stored: StoredAttributes | undefined,
  report: Report,
  version: number,
): StoredAttributes {
  if (stored === undefined) return reported(report, version);
  const since = Math.max(stored.since, report.since);
  const order = compare(stored, report);
  if (order === "older") return stored;
  const values = order === "newer" || isLater(stored, report) ? report.values : stored.values;
  const isChanged = !areEqual(values, stored.values);
  const next = { ...reported(report, isChanged ? version : stored.version), values, since };
  if (order === "newer") return next;
  // A report that can't be ordered by time clears the stored time.
  const { time, ...rest } = next;
  return time === stored.time ? { ...rest, ...present({ time }) } : rest;
}

/** The stored attributes after the provider's answer, which overrides all earlier reports. */
export function afterAnswer(
  stored: StoredAttributes | undefined,
  values: Attributes,
  version: number,
  at: Date,
): StoredAttributes {
  const isChanged = stored === undefined || !areEqual(stored.values, values);
  return { values, version: isChanged ? version : stored.version, since: stored?.since ?? at.getTime() };
}

function reported({ type, values, since, time }: Report, version: number): StoredAttributes {
  const isCreation = type === "user.created" ? true : undefined;
  return { values, version, since, ...present({ time, isCreation }) };
}

function areEqual(one: Attributes, other: Attributes): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** @throws permanent failure naming the field */
export function parseStoredAttributes(value: unknown) {
  const fields = fieldsOf(value, "attributes");
  return present({
    values: parseTexts(fields.values, "attributes.values"),
    /** The version of the user's state that set these values. */
    version: numberOf(fields, "version"),
    /** When the webhook that reported them was sent to its queue, in milliseconds since 1970. */
    since: numberOf(fields, "since"),
    /** ISO 8601. Set only while every report had a time, like `asOf` of a state. */
    time: optionalText(fields, "time"),
    /** Only the user's creation reported them, so any other report is newer. */
    isCreation: fields.isCreation === true ? true : undefined,
  });
}
