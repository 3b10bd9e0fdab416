import type { LocalStack } from "@income-events/local-stack/stack.ts";

const minute = 60_000;
/** Of the refresher: the alarm that no token is set looks at three of its runs. */
const runs = 3;
const minutesBetweenRuns = 15;

/** A clock of alarms that is behind, so that runs of some schedule lie in the past, and the present is reached with the last. */
export function clockOfAlarms() {
  let behind = (runs - 1) * minutesBetweenRuns * minute;
  return {
    now: () => Date.now() - behind,
    /** Lets the refresher run as often as the alarm that no token is set waits for. */
    passRuns: async ({ lookAtAlarms }: Pick<LocalStack, "lookAtAlarms">, run: () => Promise<void>) => {
      for (let left = runs - 1; left >= 0; left -= 1) {
        behind = left * minutesBetweenRuns * minute;
        await run();
      }
      await lookAtAlarms();
    },
  };
}
