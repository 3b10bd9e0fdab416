/** One call that the service's API received. It holds no token, no body and no query. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly at: Date;
  /** Whether the token was accepted. */
  readonly authorized: boolean;
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
