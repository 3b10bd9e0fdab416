/** Processes that may want a processor, on average over a minute. */
const quietLoad = 0.5;

/**
 * What is recorded is to be measured where nothing else runs; a figure of a busy machine says little.
 * @param load how many processes wanted a processor, on average over the last minute
 * @returns what to say where the machine is too busy to record on it, with the remedy
 */
export function warnOfOtherWork(load: number): string | undefined {
  if (load <= quietLoad) return undefined;
  return (
    `the machine is busy: ${load.toFixed(1)} processes wait on average, ${quietLoad} at most may; ` +
    "end what else runs here, or record all the same with --busy"
  );
}
