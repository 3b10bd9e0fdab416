/** Waits until so many more may go. */
export type Pace = (count: number) => Promise<void>;

/** Lets `perSecond` through, evenly: what was not used before is not made up for. @param now milliseconds since 1970 */
export function pace(
  perSecond: number,
  now: () => number,
  sleep: (milliseconds: number) => Promise<void>,
): Pace {
  let freeAt = now();
  return async (count) => {
    const wait = freeAt - now();
    if (wait > 0) await sleep(wait);
    freeAt = Math.max(freeAt, now()) + (count / perSecond) * 1000;
  };
}

/** Reports a growing count each time that it passes another multiple of `step`. */
export function milestones(step: number, report: (count: number) => void): (count: number) => void {
  let passed = 0;
  return (count) => {
    const now = Math.floor(count / step);
    if (now <= passed) return;
    passed = now;
    report(count);
  };
}
