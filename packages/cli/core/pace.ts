/** Waits until `count` more may be sent. */
export type Pace = (count: number) => Promise<void>;

/** Admits `perSecond` evenly; unused capacity does not accumulate. @param now milliseconds since 1970 */
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
