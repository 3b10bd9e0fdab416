/** How much of an answer is kept, in characters: 100,000 calls must fit. */
export const keptAnswerLength = 500;

/** One call that the service's API received. It holds no token, no request's body and no query. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** When it came, not when it was answered. */
  readonly at: Date;
  /** Whether the token was accepted. */
  readonly authorized: boolean;
  /** The beginning of the answer's body; "" where none was given, or where it holds a token. */
  readonly answer: string;
};

export type CallLog = { add(call: Call): void; list(): readonly Call[] };

/** Keeps the latest calls. */
export function createCallLog(limit = 100_000): CallLog {
  let calls: Call[] = [];
  return {
    add: (call) => {
      calls.push(call);
      // Dropped in halves: shifting one at a time would copy the list at every call.
      if (calls.length > limit) calls = calls.slice(-Math.ceil(limit / 2));
    },
    list: () => [...calls],
  };
}
