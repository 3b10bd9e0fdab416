/** Divides the provider's minute into windows, each with a quota of calls. */
export type Windows = { readonly windowInSeconds: number; readonly callsPerWindow: number };

/** The lowest rate that windows can enforce, in calls per minute. */
export const leastRequestsPerMinute = 3;

const maxWindowsPerMinute = 60;

/**
 * Divides a minute into windows so that no minute, wherever it starts, exceeds the rate. A minute overlaps
 * one more window than it contains, and a call may arrive up to one window after its permit. Returns the
 * division that loses the least of the rate.
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
