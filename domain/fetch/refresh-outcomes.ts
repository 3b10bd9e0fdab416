import { permanent } from "../core/failures.ts";
import { fieldsOf } from "../core/parse.ts";

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

/** Parses `{"outcome": …}`, which the refresher returns to its invoker. @throws permanent failure */
export function parseRefreshOutcome(value: unknown): RefreshOutcome {
  const { outcome } = fieldsOf(value, "the refresh");
  const found = refreshOutcomes.find((each) => each === outcome);
  if (found === undefined) throw permanent("the refresh has an outcome that this release does not know");
  return found;
}
