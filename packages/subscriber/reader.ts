import { checks } from "./checks.ts";
import type { Message } from "./contract.ts";
import type { Memory } from "./memory.ts";
import { type ReadMessage, readMessage, type UnknownMessage } from "./read-message.ts";

/** Runs work of the same key one after the other, in the order of the calls. */
export type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function turns(): InTurn {
  const ends = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const result = (ends.get(key) ?? Promise.resolve()).then(work);
    const end = result.catch(() => undefined);
    ends.set(key, end);
    try {
      return await result;
    } finally {
      if (ends.get(key) === end) ends.delete(key);
    }
  };
}

export type ReaderOptions = {
  /**
   * Called once for each message, however often it is delivered, and never with an older message after a newer one
   * that replaces it. If it throws, the message stays on the queue and is retried.
   */
  readonly handle: (message: Message) => void | Promise<void>;
  readonly memory: Memory;
  /** Called with messages older than one already handled. Default: skip them. Never called for erased owners. */
  readonly handleStale?: (message: Message) => void | Promise<void>;
  /** Called with messages of types that this release does not know. Default: skip them. */
  readonly handleUnknown?: (message: UnknownMessage) => void | Promise<void>;
  /** Whether a replay repeats messages that were handled before. Default: it delivers only those that were missed. */
  readonly repeatReplays?: boolean;
};

/** The result for a message. If it is `settled`, delete it from the queue; else leave it there. */
export type Result =
  | { readonly settled: true; readonly type: "handled" | "duplicate" | "stale" | "skipped" }
  /** The message is about an owner whose erasure was handled. No handler was called. */
  | { readonly settled: true; readonly type: "erased" }
  /** `unreadable`: not a message of the contract. SQS moves it to the dead-letter queue after some deliveries. */
  | {
      readonly settled: false;
      readonly type: "unreadable" | "failed";
      readonly reason: string;
      readonly error?: unknown;
    };

/** Reads the body of a queue's message. Never throws. */
export type Read = (body: string) => Promise<Result>;

/**
 * Creates a reader of messages. It skips duplicates and messages about erased owners, keeps the order where newer
 * messages replace older ones, and remembers a message after its handler has finished. If the process dies in
 * between, the message is handled again. Within one process, messages of an owner are handled one after the other.
 * For several processes, make your own write conditional on a higher `sequence`.
 */
export function createReader(options: ReaderOptions): Read {
  const inTurn = turns();
  return async (body) => {
    const read = readMessage(body);
    if (read.type === "unreadable") return { settled: false, type: "unreadable", reason: read.reason };
    const work = workOf(read, options);
    try {
      return await inTurn(work.owner, () => settle(work, options.memory));
    } catch (error) {
      return {
        settled: false,
        type: "failed",
        reason: error instanceof Error ? error.message : "failed",
        error,
      };
    }
  };
}

type Handle = () => void | Promise<void>;

/** A message and how to handle it. `series` is absent if no message replaces another. */
type Work = {
  readonly id: string;
  readonly series: string | undefined;
  /** The series of the user or account that the message is about. */
  readonly owner: string;
  readonly sequence: string;
  readonly handle: Handle | undefined;
  readonly handleStale: Handle | undefined;
};

function workOf(read: Exclude<ReadMessage, { type: "unreadable" }>, options: ReaderOptions): Work {
  const { handle, handleStale, handleUnknown, repeatReplays = false } = options;
  const { sequence, source, subject, replayid } = read.message;
  // An id is unique within its source.
  const id = [source, read.message.id, ...(repeatReplays && replayid ? [replayid] : [])].join(" ");
  const owner = [source, ownerOf(subject)].join(" ");
  switch (read.type) {
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

/** The owner of a subject: `account/<id>` for `account/<id>/income`, and for what later releases add below. */
function ownerOf(subject: string): string {
  return subject.split("/", 2).join("/");
}

/** The sequence of an erasure: higher than any other of the owner and of subjects below it. */
const erasure = "9".repeat(20);

async function settle(work: Work, memory: Memory): Promise<Result> {
  const { id, series, owner, sequence } = work;
  const { isHandled, newest } = await memory.recall(id, series);
  if (isHandled) return { settled: true, type: "duplicate" };
  const newestOfOwner = series === owner ? newest : (await memory.recall(id, owner)).newest;
  if (newestOfOwner === erasure && sequence < erasure) return { settled: true, type: "erased" };
  const isStale = newest !== undefined && sequence < newest;
  const handle = isStale ? work.handleStale : work.handle;
  if (handle !== undefined) {
    await handle();
    await memory.remember(series === undefined ? { id } : { id, place: { series, sequence } });
  }
  if (isStale) return { settled: true, type: "stale" };
  return { settled: true, type: handle === undefined ? "skipped" : "handled" };
}
