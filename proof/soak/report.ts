import type { PartState, State } from "./state.ts";

/** The whole on one line, which scripts read. */
export function lastLine({ plan, driven, flowing }: State): string {
  const sum = (count: (part: PartState) => number) => count(driven) + count(flowing);
  const assessed = sum((part) => part.assessed);
  const memory = [...driven.growing, ...flowing.growing];
  return [
    `soak: events ${sum(({ events }) => events)}/${plan.events}`,
    `end-to-end ${flowing.events}/${plan.endToEnd}`,
    `lost ${sum(({ lost }) => lost)}`,
    `doubled ${sum(({ doubled }) => doubled)}`,
    `depth ${Math.max(driven.depth, flowing.depth)}`,
    `memory ${memoryOf(memory, assessed)}`,
    `sessions ${assessed}/${sum(({ sessions }) => sessions)}`,
  ].join(" ");
}

/** Sessions that were too short say nothing. */
function memoryOf(growing: readonly string[], assessed: number): string {
  if (growing.length > 0) return `grows (${growing.join(", ")})`;
  return assessed === 0 ? "unassessed" : "flat";
}

/** Whether all that was asked for went through, and nothing is wrong. */
export function isGood({ plan, driven, flowing }: State): boolean {
  const isWhole = driven.events + flowing.events >= plan.events && flowing.events >= plan.endToEnd;
  return isWhole && [driven, flowing].every(isClean);
}

function isClean({ lost, doubled, depth, growing }: PartState): boolean {
  return lost === 0 && doubled === 0 && depth === 0 && growing.length === 0;
}

/** Seconds that the rest takes if it goes on as it went. */
export function secondsLeft(done: number, left: number, seconds: number): number {
  return done === 0 ? Number.NaN : (left * seconds) / done;
}
