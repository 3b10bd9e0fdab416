import { ignored, type KindMapping } from "./mapping.ts";

/** CloudWatch charges for each name as a metric, so further names of a kind are counted together. */
const mostNames = 10;
const otherNames = "other";
/** A name that CloudWatch accepts as a dimension value and that fits on one line. */
const countable = /^[!-~][ -~]{0,127}$/;

/**
 * The names under which a kind's ignored events are counted. Their number is limited, whatever webhooks
 * contain.
 */
export function countedNames({ types }: Pick<KindMapping, "types">): readonly string[] {
  const names = Object.keys(types).filter((name) => types[name] === ignored);
  const counted = names.filter((name) => countable.test(name)).slice(0, mostNames);
  return counted.length === names.length ? counted : [...new Set([...counted, otherNames])];
}

export function countedName(mapping: Pick<KindMapping, "types">, name: string): string {
  return countedNames(mapping).includes(name) ? name : otherNames;
}
