import { isFields } from "../core/parse.ts";
import type { Attributes } from "./events.ts";
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

export type FoundAttributes = {
  /** All attributes of the user; undefined if the body does not report them. */
  readonly attributes?: Attributes;
  /** Names of attributes that were skipped: an object, a list, too long, or not evaluable. */
  readonly leftOut: readonly string[];
};

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
