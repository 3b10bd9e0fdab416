import { median, quantileSorted, sampleWithReplacement } from "simple-statistics";

/** A median with the interval that holds it at 95 %, by the bootstrap. */
export type Estimate = { readonly median: number; readonly low: number; readonly high: number };

const resamples = 2_000;

/** @param random in [0, 1); a seeded one gives the same interval again */
export function estimate(values: readonly number[], random: () => number): Estimate {
  const sample = [...values];
  const medians = Array.from({ length: resamples }, () =>
    median(sampleWithReplacement(sample, sample.length, random)),
  ).sort((a, b) => a - b);
  return {
    median: median(sample),
    low: quantileSorted(medians, 0.025),
    high: quantileSorted(medians, 0.975),
  };
}

/** Whether the interval reaches no further from its median than this share of it, to either side. */
export function isWithin({ median, low, high }: Estimate, share: number): boolean {
  return high - median <= share * median && median - low <= share * median;
}
