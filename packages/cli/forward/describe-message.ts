import { isFields, optionalText, parseJson } from "../../../domain/core/parse.ts";
import { oneLine } from "../core/printable.ts";

/** A message in a line: type, subject and id, as far as it has them. */
export function describeMessage(body: string): string {
  const fields = fieldsOrUndefined(body);
  if (fields === undefined) return "no CloudEvent";
  const parts = ["type", "subject", "id"].map((name) => optionalText(fields, name) ?? "-");
  return oneLine(parts.join("  "));
}

function fieldsOrUndefined(body: string) {
  try {
    const value = parseJson(body, "the message");
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
