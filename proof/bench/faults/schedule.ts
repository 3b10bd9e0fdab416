/**
 * What can happen to a function's call of AWS: it is refused, it fails, its connection is cut before or after it was
 * applied, or the function is killed (SIGKILL) before or after.
 */
export type Fault = "throttled" | "failed" | "cut" | "answerLost" | "killedBefore" | "killedAfter";

const cycle = 83;

/**
 * What happens to the calls of each part of the way (receive, store, relay, fetch), by their number from 1: the same
 * for every implementation. Four throttled in a row are more than the SDK tries by itself, so that a batch fails.
 */
export function faultAt(call: number): Fault | undefined {
  if (call === 7) return "killedBefore";
  if (call === 19) return "killedAfter";
  const position = call % cycle;
  if (position >= 10 && position <= 13) return "throttled";
  if (position === 17) return "answerLost";
  if (position === 23) return "cut";
  return position === 29 || position === 30 ? "failed" : undefined;
}
