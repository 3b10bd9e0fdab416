/** Parts of a pipeline that can fail. */
export const parts = ["sqs", "dynamodb", "stream", "secrets", "s3", "provider"] as const;
export type Part = (typeof parts)[number];

/**
 * How a part fails: `fails` answers 5xx without effect; `throttles` asks to slow down; `times-out` never
 * answers; `answers-late` applies the call and answers later; `answers-twice` applies it twice, as when a
 * network repeats a request; `answers-partly` does a part of a batch or page, or breaks off in the middle of
 * its answer. If several are owed, the first comes first: the one that the fewest calls support, then those
 * that keep a stream's reader from delivering what it read, which takes a while.
 */
export const modes = [
  "answers-partly",
  "fails",
  "throttles",
  "times-out",
  "answers-late",
  "answers-twice",
] as const;
export type Mode = (typeof modes)[number];

/** For example `sqs throttles`. */
export type FaultClass = `${Part} ${Mode}`;

export const faultClasses: readonly FaultClass[] = parts.flatMap((part) =>
  modes.map((mode) => `${part} ${mode}` as const),
);

/** Shares of all calls at which each class fires. */
export const shares = [0.01, 0.1, 0.5] as const;
