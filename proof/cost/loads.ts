import type { Arrival } from "./count-load.ts";
import type { LoadName } from "./counts.ts";

export type LoadShape = {
  readonly events: number;
  readonly seed: number;
  readonly duplicates: number;
  readonly arrival: Arrival;
  /** In each document that the provider answers with. */
  readonly items: number;
};

const usual = { events: 100, seed: 41, duplicates: 0.3, arrival: "batches", items: 2 } as const;

/** What is counted. Each has events of its own, so that none is known to the table before. */
export const loads: Readonly<Record<LoadName, LoadShape>> = {
  usual,
  unrepeated: { ...usual, seed: 42, duplicates: 0 },
  repeated: { ...usual, seed: 43, duplicates: 0.9 },
  alone: { ...usual, seed: 44, events: 30, arrival: "alone" },
  large: { ...usual, seed: 45, items: 88 },
  huge: { ...usual, seed: 46, events: 50, items: 880 },
};

export const loadNames: readonly LoadName[] = ["usual", "unrepeated", "repeated", "alone", "large", "huge"];

/** Processes start and compile, caches fill: not counted. */
export const warmUp = { events: 20, seed: 40, duplicates: 0.3 };
