import { asObject, fieldsOfLine, type JsonObject } from "../operation.ts";

export type LinePredicate = (line: string) => boolean;

export class FilterPatternError extends Error {
  override readonly name = "FilterPatternError";
}

/**
 * Parses a filter pattern: empty (all lines), one quoted phrase, one regular expression, or a condition on
 * JSON fields with `=`, a text or a regular expression, `&&`, `||` and brackets.
 * Source: CloudWatch Logs user guide, "Filter pattern syntax for metric filters, subscription filters, filter
 * log events, and Live Tail".
 * @throws FilterPatternError for any other pattern
 */
export function parseFilterPattern(pattern: string): LinePredicate {
  const text = pattern.trim();
  if (text === "") return () => true;
  if (text.startsWith("{") && text.endsWith("}")) {
    const condition = parseCondition(text.slice(1, -1));
    return (line) => line.startsWith("{") && condition(fieldsOfLine(line));
  }
  const [, expression] = /^%(.+)%$/s.exec(text) ?? [];
  if (expression !== undefined) return matches(expression);
  const [, phrase] = /^"([^"\\]+)"$/.exec(text) ?? [];
  if (phrase !== undefined) return contains(phrase);
  throw unknown(text);
}

type Condition = (fields: JsonObject) => boolean;

const token = /\s*(\(|\)|&&|\|\||\$\.[\w.]+|=|"[^"\\]*"|%[^%]+%)/y;

function parseCondition(text: string): Condition {
  const tokens = tokensOf(text);
  const any = (): Condition => {
    const terms = [all()];
    while (tokens[0] === "||") {
      tokens.shift();
      terms.push(all());
    }
    return (fields) => terms.some((term) => term(fields));
  };
  const all = (): Condition => {
    const terms = [one()];
    while (tokens[0] === "&&") {
      tokens.shift();
      terms.push(one());
    }
    return (fields) => terms.every((term) => term(fields));
  };
  const one = (): Condition => {
    if (tokens[0] !== "(") return comparison(tokens, text);
    tokens.shift();
    const inner = any();
    if (tokens.shift() !== ")") throw unknown(text);
    return inner;
  };
  const condition = any();
  if (tokens.length > 0) throw unknown(text);
  return condition;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  let from = 0;
  while (text.slice(from).trim() !== "") {
    token.lastIndex = from;
    const [, found] = token.exec(text) ?? [];
    if (found === undefined) throw unknown(text);
    tokens.push(found);
    from = token.lastIndex;
  }
  return tokens;
}

function comparison(tokens: string[], text: string): Condition {
  const [selector = "", equals, value = ""] = tokens.splice(0, 3);
  if (!selector.startsWith("$.") || equals !== "=" || !/^["%]/.test(value)) throw unknown(text);
  const path = selector.slice(2).split(".");
  const isWanted = value.startsWith("%") ? matches(value.slice(1, -1)) : equalsText(value.slice(1, -1));
  return (fields) => {
    const found = path.reduce<unknown>((inner, name) => asObject(inner)[name], fields);
    return typeof found === "string" && isWanted(found);
  };
}

/** `*` matches any text. */
function equalsText(wanted: string): LinePredicate {
  const parts = wanted.split("*").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const whole = new RegExp(`^${parts.join(".*")}$`, "s");
  return (text) => whole.test(text);
}

function matches(expression: string): LinePredicate {
  if (!/^[\w:#=@/;,\-^$?[\]{}|\\*+.]+$/.test(expression))
    throw new FilterPatternError(
      `Invalid character(s) in term '%${expression}%': a regular expression has letters, digits, _ : # = @ / ; , - and ` +
        "the operators ^ $ ? [ ] { } | \\ * + .",
    );
  const compiled = new RegExp(expression);
  return (text) => compiled.test(text);
}

/** Phrases match whole words only, not the beginning of an id. */
function contains(phrase: string): LinePredicate {
  const escaped = phrase.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const whole = new RegExp(`(?<![A-Za-z0-9_])${escaped}(?![A-Za-z0-9_])`);
  return (line) => whole.test(line);
}

function unknown(pattern: string): FilterPatternError {
  return new FilterPatternError(
    `The local gateway does not know the filter pattern ${pattern}: write one "phrase", one %regular expression%, or ` +
      '{ $.field = "text" } with &&, || and brackets',
  );
}
