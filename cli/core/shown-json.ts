import { mask } from "../../domain/core/mask.ts";
import { losslessValue } from "../../domain/event/lossless-json.ts";

export type Showing = {
  /** Whether personal data is shown. */
  readonly reveal: boolean;
  /** Ids, which are always shown. */
  readonly ids: readonly (string | undefined)[];
};

/** A JSON text as a value that can be printed: masked, or as it is with all digits of its numbers. */
export function shownJson(text: string, { reveal, ids }: Showing): unknown {
  const value = tryTo(() => (reveal ? losslessValue(text) : JSON.parse(text)), text);
  return reveal ? value : mask(value, new Set(ids.filter((id) => id !== undefined)));
}

/** What is no JSON is one text. */
function tryTo(parse: () => unknown, text: string): unknown {
  try {
    return parse();
  } catch {
    return text;
  }
}
