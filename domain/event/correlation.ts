import { isFields, optionalText } from "../core/parse.ts";

/**
 * The correlation id that a message of the pipeline's own queues carries: an envelope's is its event's id, a task's has
 * a field of its own, and an erasure that an operator asked for is known by its id.
 * @returns undefined where there is none, or where the text can't be read
 */
export function correlationIdIn(text: string): string | undefined {
  const fields = parse(text);
  if (!isFields(fields)) return undefined;
  return optionalText(fields, "correlationId") ?? optionalText(fields, "id");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
