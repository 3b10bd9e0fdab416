import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, textOf, textsOf } from "../core/parse.ts";

/** What a tick of the reconciliation came to, for whoever invoked it. */
export type ReconcileOutcome =
  /** The provider's list was compared to its end: users listed, and what the table lacked or had wrong. */
  | { readonly outcome: "done"; readonly listed: number; readonly drift: number }
  /** The tick's time is over; the next one goes on. */
  | { readonly outcome: "goes on"; readonly listed: number }
  /** The provider, its rate or a queue is not there now. */
  | { readonly outcome: "paused"; readonly reason: string }
  | { readonly outcome: "overtaken" }
  /** Deletions that were too many go on. */
  | { readonly outcome: "accepted"; readonly accepted: number }
  /** Deletions were taken back. */
  | ({ readonly outcome: "restored" } & Restored)
  | { readonly outcome: "not due" };

export type Restored = {
  readonly restored: number;
  /** Ids of accounts that reconciliation did not delete. */
  readonly others: readonly string[];
  /** Ids of accounts whose deletion was reported and has not taken effect yet. */
  readonly underWay: readonly string[];
};

/** @throws permanent failure where it is none */
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
