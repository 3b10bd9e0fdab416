import { randomBytes } from "node:crypto";

/** Words that stand nowhere else: where one is found, what it was planted in has got there. */
export type Canaries = {
  /** A new word. @param what says in a failure where it came from */
  plant(what: string): string;
  /** What was planted and is found in a text, as it is or in base64; in order, each once. */
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

/** What stands in a text in base64, of either alphabet, wherever it begins. */
function decoded(text: string): readonly string[] {
  // Split: of a run of a megabyte an expression for the run itself would exhaust the stack.
  const runs = text.split(/[^A-Za-z0-9+/_-]/).filter(({ length }) => length >= 24);
  return runs.flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), "base64").toString("latin1")),
  );
}
