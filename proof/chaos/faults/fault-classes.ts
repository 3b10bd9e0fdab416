/** What a pipeline is made of, as far as it can fail. */
export const parts = ["sqs", "dynamodb", "stream", "secrets", "s3", "provider"] as const;
export type Part = (typeof parts)[number];

/**
 * How a part fails: `fails` answers 5xx and did nothing; `throttles` asks to go slower; `times-out` never answers;
 * `answers-late` applies it and answers after a while; `answers-twice` applies it twice, as where a network repeats a
 * request; `answers-partly` does some of a batch or a page, or breaks off in the middle of its answer. Where several are
 * owed, the first comes first: those that keep a stream's reader from handing over what it read, which then takes a while.
 */
export const modes = [
  "fails",
  "throttles",
  "times-out",
  "answers-partly",
  "answers-late",
  "answers-twice",
] as const;
export type Mode = (typeof modes)[number];

/** For example `sqs throttles`. */
export type FaultClass = `${Part} ${Mode}`;

export const faultClasses: readonly FaultClass[] = parts.flatMap((part) =>
  modes.map((mode) => `${part} ${mode}` as const),
);

/** Each class fires at each of these shares of all calls. */
export const shares = [0.01, 0.1, 0.5] as const;
