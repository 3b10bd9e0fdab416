import { randomBytes } from "node:crypto";

/** Unique words: where one is found, the data it was planted in has leaked. */
export type Canaries = {
  /**
   * Creates a word.
   * @param what names its origin in failures
   */
  plant(what: string): string;
  /** Planted words that occur in a text, plain or in base64; in order, each once. */
  foundIn(text: string): readonly string[];
};

const mark = "kanarie";

export function createCanaries(): Canaries {
  const planted = new Map<string, string>();
  return {
    plant: (what) => {
      const word = `${mark}${randomBytes(9).toString("hex")}`;
      planted.set(word, what);
      return word;
    },
    foundIn: (text) => {
      const texts = [text, ...decoded(text)];
      return [...planted].filter(([word]) => texts.some((one) => one.includes(word))).map(([, what]) => what);
    },
  };
}

/** Decodes a text's base64 parts, of either alphabet and at any offset. */
function decoded(text: string): readonly string[] {
  // Split first: a regular expression over a megabyte would overflow the stack.
  const runs = text.split(/[^A-Za-z0-9+/_-]/).filter(({ length }) => length >= 24);
  return runs.flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), "base64").toString("latin1")),
  );
}
