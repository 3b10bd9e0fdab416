import { permanent } from "../core/failures.ts";
import { fieldsOf } from "../core/parse.ts";

/** What can come of a run of the refresher. */
export const refreshOutcomes = [
  "refreshed",
  "kept",
  "unchanged",
  "discarded",
  "overtaken",
  "refused",
  "missing",
  "unproven",
  "paced",
] as const;
export type RefreshOutcome = (typeof refreshOutcomes)[number];

/** Reads `{"outcome": …}`, which the refresher answers to who invokes it. @throws permanent failure */
export function parseRefreshOutcome(value: unknown): RefreshOutcome {
  const { outcome } = fieldsOf(value, "the refresh");
  const known = refreshOutcomes.find((each) => each === outcome);
  if (known === undefined) throw permanent("the refresh has an outcome that this release does not know");
  return known;
}
