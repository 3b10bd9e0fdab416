import { checks } from "./checks.ts";
import type { Message } from "./contract.ts";
import type { Memory } from "./memory.ts";
import { type ReadMessage, readMessage, type UnknownMessage } from "./read-message.ts";
import { turns } from "./turns.ts";

export type ReaderOptions = {
  /**
   * Yours: called with each message, once in effect, and of those that replace each other never with an older one
   * after a newer one. What it throws leaves the message on the queue, to come again.
   */
  readonly handle: (message: Message) => void | Promise<void>;
  readonly memory: Memory;
  /** Called with what is older than what was handled; absent: it is passed over. Never with what an erasure covers. */
  readonly handleStale?: (message: Message) => void | Promise<void>;
  /** Called with types that this release does not know; absent: they are passed over. */
  readonly handleUnknown?: (message: UnknownMessage) => void | Promise<void>;
  /** Whether a replay brings what was handled before once more; else it brings what was missed only. */
  readonly repeatReplays?: boolean;
};

/** What became of a message: where it is settled, delete it from the queue; else leave it there. */
export type Result =
  | { readonly settled: true; readonly as: "handled" | "duplicate" | "stale" | "skipped" }
  /** The message is about somebody whose erasure was handled: nobody was given it. */
  | { readonly settled: true; readonly as: "erased" }
  /** `unreadable` is no message of the contract: after some deliveries SQS moves it to the dead-letter queue. */
  | {
      readonly settled: false;
      readonly as: "unreadable" | "failed";
      readonly reason: string;
      readonly error?: unknown;
    };

/** Reads the body of a message of the queue. Never throws. */
export type Read = (body: string) => Promise<Result>;

/**
 * Reads messages: drops what was handled before and whatever is about an erased owner, keeps the order where the newest
 * counts, and remembers after the handler is done. At least once stays at least once: a process that dies between the two
 * handles the message again. Within one process messages of an owner are handled one after the other; between processes a
 * write of yours decides, which takes the higher `sequence`.
 */
export function createReader(options: ReaderOptions): Read {
  const inTurn = turns();
  return async (body) => {
    const read = readMessage(body);
    if (read.as === "unreadable") return { settled: false, as: "unreadable", reason: read.reason };
    const work = workOf(read, options);
    try {
      return await inTurn(work.owner, () => settle(work, options.memory));
    } catch (error) {
      return {
        settled: false,
        as: "failed",
        reason: error instanceof Error ? error.message : "failed",
        error,
      };
    }
  };
}

type Handle = () => void | Promise<void>;

/** A message with what is to be done with it; `series` is absent where no message replaces another. */
type Work = {
  readonly id: string;
  readonly series: string | undefined;
  /** The series of the user or account that the message is about. */
  readonly owner: string;
  readonly sequence: string;
  readonly handle: Handle | undefined;
  readonly handleStale: Handle | undefined;
};

function workOf(read: Exclude<ReadMessage, { as: "unreadable" }>, options: ReaderOptions): Work {
  const { handle, handleStale, handleUnknown, repeatReplays = false } = options;
  const { sequence, source, subject, replayid } = read.message;
  // An id is unique within its source.
  const id = [source, read.message.id, ...(repeatReplays && replayid ? [replayid] : [])].join(" ");
  const owner = [source, ownerOf(subject)].join(" ");
  switch (read.as) {
    case "message": {
      const { message } = read;
      const series = [source, seriesOf(message)].join(" ");
      const stale = handleStale && (() => handleStale(message));
      return { id, series, owner, sequence, handle: () => handle(message), handleStale: stale };
    }
    case "unknown": {
      const { message } = read;
      const unknown = handleUnknown && (() => handleUnknown(message));
      return { id, series: undefined, owner, sequence, handle: unknown, handleStale: undefined };
    }
  }
}

/** Messages of one series replace each other. */
function seriesOf({ type, subject }: Message): string {
  return checks[type].newestOf === "subject" ? subject : `${subject} ${type}`;
}

/** `account/<id>` of `account/<id>/income`, and of each subject that a later release adds below it. */
function ownerOf(subject: string): string {
  return subject.split("/", 2).join("/");
}

/** The sequence of an erasure: higher than any other of the owner, and of each subject below it. */
const erasure = "9".repeat(20);

async function settle(work: Work, memory: Memory): Promise<Result> {
  const { id, series, owner, sequence } = work;
  const { isHandled, newest } = await memory.recall(id, series);
  if (isHandled) return { settled: true, as: "duplicate" };
  const newestOfOwner = series === owner ? newest : (await memory.recall(id, owner)).newest;
  if (newestOfOwner === erasure && sequence < erasure) return { settled: true, as: "erased" };
  const isStale = newest !== undefined && sequence < newest;
  const handle = isStale ? work.handleStale : work.handle;
  if (handle !== undefined) {
    await handle();
    await memory.remember(series === undefined ? { id } : { id, place: { series, sequence } });
  }
  if (isStale) return { settled: true, as: "stale" };
  return { settled: true, as: handle === undefined ? "skipped" : "handled" };
}
