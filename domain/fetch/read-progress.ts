import { type Fields, fieldsOf, numberOf, textOf } from "../core/parse.ts";
import { type Continuation, parseContinuation } from "./paging.ts";

/** How far a list has been read: travels with its task. */
export type ReadProgress = {
  /** What was requested when the first page was read; see `data-set.ts`. */
  readonly noted: number;
  readonly from: Continuation;
  /** What the items so far are kept as. */
  readonly kept: string;
};

/** @throws permanent failure naming the field */
export function parseReadProgress(fields: Fields): ReadProgress {
  return {
    noted: numberOf(fields, "noted"),
    from: parseContinuation(fieldsOf(fields.from, "from")),
    kept: textOf(fields, "kept"),
  };
}
