import { PlanError } from "../assembly/problems.ts";
import { fieldsOfLine } from "../gateway/operation.ts";

/** Matches lines whose JSON has one of these texts in this field. */
export type LogPattern = { readonly field: string; readonly texts: readonly string[] };

const term = String.raw`\$\.(\w+) = "([^"*\\]+)"`;
const forms = [
  new RegExp(`^\\{ ${term} \\}$`),
  new RegExp(String.raw`^\{ \(${term}\)(?: \|\| \(${term}\))+ \}$`),
];

/**
 * Parses a filter pattern. Supported: `{ $.code = "TEXT" }`, and `{ ($.code = "ONE") || ($.code = "OTHER") }`
 * on one field, without `*` in the texts.
 * Source: CloudWatch Logs user guide, "Filter pattern syntax", JSON log events.
 * @throws PlanError for any other pattern
 */
export function parseLogPattern(pattern: string): LogPattern {
  const terms = [...pattern.matchAll(new RegExp(term, "g"))];
  const texts = terms.flatMap(([, , text]) => text ?? []);
  const [field, ...others] = new Set(terms.map(([, name]) => name));
  const isKnown = forms.some((form) => form.test(pattern)) && others.length === 0;
  if (isKnown && field !== undefined) return { field, texts };
  throw new PlanError(
    `the filter pattern ${pattern} is not one that the local runner knows`,
    'Write it as { $.code = "TEXT" } or { ($.code = "ONE") || ($.code = "OTHER") }.',
  );
}

/**
 * The value that a line adds to a metric.
 * @param value a number, or the field of the line that holds it
 * @returns undefined if the pattern does not match or the field holds no number
 */
export function valueOfLine(
  line: string,
  pattern: LogPattern,
  value: number | { readonly field: string },
): number | undefined {
  const fields = fieldsOfLine(line);
  if (!pattern.texts.some((text) => fields[pattern.field] === text)) return undefined;
  if (typeof value === "number") return value;
  const held = fields[value.field];
  return typeof held === "number" && Number.isFinite(held) ? held : undefined;
}
