import type { MappingSource } from "../../../domain/event/mapping-source.ts";
import type { Candidate } from "./candidates.ts";
import type { LearnedField } from "./names.ts";

const maxAlternatives = 3;

/**
 * The best candidate; where samples lack it, the next ones on bodies that have what is missing.
 * @param atAnyPrice also a candidate that is little more than a guess
 */
export function cover(
  candidates: readonly Candidate[],
  samples: number,
  atAnyPrice: boolean,
): readonly Candidate[] {
  const [best, ...rest] = candidates;
  if (best === undefined || (best.confidence === "low" && !atAnyPrice)) return [];
  const chosen = [best];
  if (typeof best.column.source !== "string") return chosen;
  for (const next of rest) {
    const covered = new Set(chosen.flatMap(({ column }) => [...column.values.keys()]));
    if (covered.size === samples || chosen.length === maxAlternatives) break;
    const { source, values } = next.column;
    const isNew = [...values.keys()].every((sample) => !covered.has(sample));
    if (typeof source === "string" && isNew && next.confidence !== "low") chosen.push(next);
  }
  return chosen;
}

/** One source for all that was chosen. */
export function sourceOf(field: LearnedField, best: Candidate, chosen: readonly Candidate[]): MappingSource {
  if (chosen.length === 1) return best.column.source;
  const expressions = chosen.map(({ column }) => String(column.source));
  // `a || b` takes b where a is false; a projection drops nulls only.
  const isBoolean = field === "connected" || field === "dataAvailable";
  return isBoolean ? `[${expressions.join(", ")}][*] | [0]` : expressions.join(" || ");
}

export function textOfSource(source: MappingSource): string {
  return typeof source === "string" ? source : `header ${source.header}`;
}
