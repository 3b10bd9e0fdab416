import { isFields, optionalText } from "../core/parse.ts";

/**
 * Reads the correlation id of a message in the pipeline's own queues: the `correlationId` of a task, or the
 * `id` of an envelope or of an operator's erasure.
 * @returns undefined if there is none or the text is not JSON
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
