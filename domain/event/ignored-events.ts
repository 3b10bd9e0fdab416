import { ignored, type KindMapping } from "./mapping.ts";

/** CloudWatch charges for each name as one metric: further names of a kind are counted together. */
const mostNames = 10;
const otherNames = "other";
/** What CloudWatch takes as the value of a metric's dimension, and what fits into a line. */
const countable = /^[!-~][ -~]{0,127}$/;

/** The names under which a kind's ignored events are counted: a bounded number, whatever webhooks say. */
export function countedNames({ types }: Pick<KindMapping, "types">): readonly string[] {
  const names = Object.keys(types).filter((name) => types[name] === ignored);
  const counted = names.filter((name) => countable.test(name)).slice(0, mostNames);
  return counted.length === names.length ? counted : [...new Set([...counted, otherNames])];
}

/** The name under which an ignored event is counted. */
export function countedName(mapping: Pick<KindMapping, "types">, name: string): string {
  return countedNames(mapping).includes(name) ? name : otherNames;
}
