import { PlanError } from "../assembly/problems.ts";
import { fieldsOfLine } from "../gateway/operation.ts";

/** A line's JSON must have this text in this field. */
export type LogPattern = { readonly field: string; readonly text: string };

/**
 * Reads the one form of filter pattern that is known here: `{ $.code = "TEXT" }`, without `*` in the text.
 * Source: CloudWatch Logs user guide, "Filter pattern syntax", JSON log events.
 * @throws PlanError for any other
 */
export function parseLogPattern(pattern: string): LogPattern {
  const [, field, text] = /^\{ \$\.(\w+) = "([^"*\\]+)" \}$/.exec(pattern) ?? [];
  if (field !== undefined && text !== undefined) return { field, text };
  throw new PlanError(
    `the filter pattern ${pattern} is not one that the local runner knows`,
    'Write it as { $.code = "TEXT" }.',
  );
}

/**
 * What a line adds to a metric.
 * @param value a number, or the field of the line that holds it
 * @returns undefined where the pattern does not match, or the field holds no number
 */
export function valueOfLine(
  line: string,
  pattern: LogPattern,
  value: number | { readonly field: string },
): number | undefined {
  const fields = fieldsOfLine(line);
  if (fields[pattern.field] !== pattern.text) return undefined;
  if (typeof value === "number") return value;
  const held = fields[value.field];
  return typeof held === "number" && Number.isFinite(held) ? held : undefined;
}
