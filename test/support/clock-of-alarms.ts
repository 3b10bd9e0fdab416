import type { LocalStack } from "@income-events/local-stack/stack.ts";

const minute = 60_000;
/** Runs of the refresher that the alarm for a missing token evaluates. */
const runs = 3;
const minutesBetweenRuns = 15;

/** An alarm clock that starts in the past, so that the runs of a schedule end at the present. */
export function clockOfAlarms() {
  let behind = (runs - 1) * minutesBetweenRuns * minute;
  return {
    now: () => Date.now() - behind,
    /** Runs the refresher as often as the alarm for a missing token requires. */
    passRuns: async ({ refreshAlarms }: Pick<LocalStack, "refreshAlarms">, run: () => Promise<void>) => {
      for (let left = runs - 1; left >= 0; left -= 1) {
        behind = left * minutesBetweenRuns * minute;
        await run();
      }
      await refreshAlarms();
    },
  };
}
