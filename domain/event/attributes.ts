import { isFields } from "../core/parse.ts";
import { canonicalId } from "./canonical-id.ts";
import { isClean } from "./json-text.ts";
import { isRawNumber } from "./lossless-json.ts";
import type { Search } from "./mapping-source.ts";

/** What the operator keeps with a user at the provider, such as the number of a loan: texts by name. */
export type Attributes = Readonly<Record<string, string>>;

/** The allow-list of `mapping.users.attributes`: an expression for each name. */
export type AttributeExpressions = Readonly<Record<string, string>>;

/** The most names. */
export const mostAttributes = 10;
/** Bytes of UTF-8 of one value, and of all names and values together. */
const longestValue = 256;
const longestInAll = 1_024;

export type FoundAttributes = {
  /** All that the user has; undefined where nothing is said of them. */
  readonly attributes?: Attributes;
  /** Names whose values were left out: an object, a list, too long, or not evaluable. */
  readonly leftOut: readonly string[];
};

/**
 * Reads a user's attributes in a webhook or in the provider's answer. Fields of `data` are found as those at the top are.
 * An object in which an expression looks for its value, such as `metadata` of `metadata.loan_id`, replaces all attributes,
 * also where it is empty. Null or missing, it says nothing.
 * @param body as `parseExact` reads it
 */
export function attributesIn(
  expressions: AttributeExpressions,
  body: unknown,
  userId: string | undefined,
  search: Search,
): FoundAttributes {
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

/** In the order of the settings, as many as fit. */
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

/** A text, or a number or boolean as JSON writes it. */
function textOf(value: unknown): string | undefined {
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** Whether it is an object that the operator keeps, and not the user itself, of whose fields any may be missing. */
function isKeptObject(value: unknown, userId: string | undefined): boolean {
  if (!isFields(value) || isRawNumber(value)) return false;
  const texts = Object.values(value).map(textOf);
  return !texts.some((text) => text !== undefined && canonicalId(text) === userId);
}

const step = String.raw`(?:[A-Za-z_]\w*|"(?:\\.|[^"\\])*")`;
const plainPath = new RegExp(String.raw`^${step}(?:\.${step})*$`);
const lastStep = new RegExp(String.raw`\.${step}$`);

/** What is passed on the way to a value, of each alternative that is nothing but names: `a` and `a.b` of `a.b.c || d`. */
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
