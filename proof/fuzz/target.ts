/** Something that takes bytes from outside, and what must hold whatever the bytes are. */
export type Target = {
  /** Ends a sentence that begins with "Whatever comes": shown where it is broken. */
  readonly promise: string;
  /** Inputs to begin with, from which others are made. No personal data. */
  readonly seeds: readonly string[];
  /** Words that are put into inputs. */
  readonly words?: readonly string[];
  /** Packages whose code the search looks into as well. */
  readonly looksInto?: readonly string[];
  /** A folder whose modules the code loads when it needs them: loaded before, or the first input would take as long. */
  readonly loads?: string;
  /** Detectors of the fuzzer that it sets off on purpose: it calls what runs beside it. */
  readonly setsOff?: readonly string[];
  /** Of an input at most so many bytes; absent: 4,096. */
  readonly maxBytes?: number;
  /** Gives one input to the code. @throws whatever breaks the promise */
  readonly check: (input: Uint8Array) => void | Promise<void>;
};

/** An event that was accepted and is nowhere: counted apart from what crashes. */
export class EventLost extends Error {
  override readonly name = "EventLost";
}

/** @throws where a promise is broken */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
