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

export type Log<Entry> = { add(entry: Entry): void; list(): readonly Entry[] };

/** Creates a list of the latest entries. */
export function createLog<Entry>(limit = 100_000): Log<Entry> {
  let entries: Entry[] = [];
  return {
    add: (entry) => {
      entries.push(entry);
      // Drops half at once, because shifting single entries would copy the list each time.
      if (entries.length > limit) entries = entries.slice(-Math.ceil(limit / 2));
    },
    list: () => [...entries],
  };
}
