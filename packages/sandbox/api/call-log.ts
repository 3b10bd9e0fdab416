/** Maximum characters of an answer to log: memory must hold 100,000 calls. */
export const keptAnswerLength = 500;

/** A call that the API received, without its token, body and query. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Time at which the call arrived. */
  readonly at: Date;
  readonly authorized: boolean;
  /** Start of the answer's body; "" if there was none or if it holds a token. */
  readonly answer: string;
};

export type CallLog = { add(call: Call): void; list(): readonly Call[] };

export function createCallLog(limit = 100_000): CallLog {
  let calls: Call[] = [];
  return {
    add: (call) => {
      calls.push(call);
      // Drops half at once, because shifting single calls would copy the list each time.
      if (calls.length > limit) calls = calls.slice(-Math.ceil(limit / 2));
    },
    list: () => [...calls],
  };
}
