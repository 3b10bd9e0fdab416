import { writeSync } from "node:fs";
import type { Target } from "../target.ts";

/** What the process that fuzzes reports to the one that started it: a line of JSON each. */
export type Report = {
  readonly inputs: number;
  readonly residentBytes: number;
  /** With buffers, after a garbage collection, at a tenth of the inputs and at their end. */
  readonly heapBytes?: number;
};

/** Reports go through a file descriptor, for the event loop need not turn while a target without promises is fuzzed. */
export const reportDescriptor = 3;
const reportEveryMs = 250;

/** The function that the fuzzer calls with each input; it counts them, and reports. */
export function watched(
  { check }: Target,
  inputs: number,
  descriptor: number,
): (input: Uint8Array) => void | Promise<void> {
  let count = 0;
  let reportedAt = 0;
  const warm = Math.ceil(inputs / 10);
  const report = (heap: object) => {
    reportedAt = performance.now();
    const reported = { inputs: count, residentBytes: process.memoryUsage.rss(), ...heap };
    writeSync(descriptor, `${JSON.stringify(reported)}\n`);
  };
  const counted = () => {
    count += 1;
    if (count === warm || count === inputs) report({ heapBytes: heapAfterCollection() });
    else if (performance.now() - reportedAt > reportEveryMs) report({});
  };
  return (input) => {
    // A copy: the fuzzer's own bytes are gone with the next input.
    const result = check(Uint8Array.from(input));
    return result === undefined ? counted() : result.then(counted);
  };
}

function heapAfterCollection(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
