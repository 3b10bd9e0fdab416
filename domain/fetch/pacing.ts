/** The provider's minute, cut into windows, each with a quota of calls. */
export type Windows = { readonly windowInSeconds: number; readonly callsPerWindow: number };

/** The least rate that windows can keep, in calls a minute. */
export const leastRequestsPerMinute = 3;

const maxWindowsPerMinute = 60;

/**
 * Cuts a minute into windows such that no minute, wherever it begins, holds more calls than the rate. A minute
 * touches one window more than it holds; one more still, since a call may arrive as late as a window after its
 * permit. Of all cuts, the one that gives away least of the rate.
 * @param requestsPerMinute at least `leastRequestsPerMinute`
 */
export function windowsOf(requestsPerMinute: number): Windows {
  const cuts = Array.from({ length: maxWindowsPerMinute }, (_, index) => {
    const windowsPerMinute = index + 1;
    const callsPerWindow = Math.floor(requestsPerMinute / (windowsPerMinute + 2));
    return { windowInSeconds: 60 / windowsPerMinute, callsPerWindow };
  });
  return cuts.reduce((best, cut) => (rateOf(cut) > rateOf(best) ? cut : best));
}

function rateOf({ windowInSeconds, callsPerWindow }: Windows): number {
  return callsPerWindow / windowInSeconds;
}
