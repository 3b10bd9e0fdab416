import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, textOf, textsOf } from "../core/parse.ts";

/** The outcome of a reconciliation tick, for its invoker. */
export type ReconcileOutcome =
  /** The whole list was compared: number of users listed, and of differences found. */
  | { readonly outcome: "done"; readonly listed: number; readonly drift: number }
  /** The tick ran out of time; the next one continues. */
  | { readonly outcome: "goes on"; readonly listed: number }
  /** The provider, its rate limit or a queue is unavailable. */
  | { readonly outcome: "paused"; readonly reason: string }
  | { readonly outcome: "overtaken" }
  /** An operator accepted deletions that exceeded the limit. */
  | { readonly outcome: "accepted"; readonly accepted: number }
  /** Deletions were undone. */
  | ({ readonly outcome: "restored" } & Restored)
  | { readonly outcome: "not due" };

export type Restored = {
  readonly restored: number;
  /** Ids of accounts that reconciliation did not delete. */
  readonly others: readonly string[];
  /** Ids of accounts whose reported deletion has not taken effect yet. */
  readonly underWay: readonly string[];
};

/** @throws permanent failure if it is not an outcome */
export function parseReconcileOutcome(value: unknown): ReconcileOutcome {
  const fields = fieldsOf(value, "the outcome");
  switch (fields.outcome) {
    case "done":
      return { outcome: "done", listed: numberOf(fields, "listed"), drift: numberOf(fields, "drift") };
    case "goes on":
      return { outcome: "goes on", listed: numberOf(fields, "listed") };
    case "paused":
      return { outcome: "paused", reason: textOf(fields, "reason") };
    case "accepted":
      return { outcome: "accepted", accepted: numberOf(fields, "accepted") };
    case "restored":
      return {
        outcome: "restored",
        restored: numberOf(fields, "restored"),
        others: textsOf(fields, "others"),
        underWay: textsOf(fields, "underWay"),
      };
    case "overtaken":
    case "not due":
      return { outcome: fields.outcome };
    default:
      throw permanent("the reconciliation came to something that this release does not know");
  }
}
