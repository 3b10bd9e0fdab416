import { nameOf } from "../../domain/event/subjects.ts";
import { readTask } from "../../domain/fetch/task.ts";
import type { Message } from "./queue.ts";

/** A read of a document: when what was known before it was read, and for which messages. By the world's own clock. */
type Read = { readonly began: number; readonly messages: readonly string[] };

/** In milliseconds: two seconds for clocks that are apart, one for the gap between them, one for a date in whole seconds. */
const longestDoubt = 4_000;

/** Whether the provider's documents are read as rarely as can be. It knows what the pipeline can't. */
export class Reads {
  made = 0;
  /** Reads for no task that was sent since the read that wrote the document began: none of them had to be. */
  excess = 0;
  violation: string | undefined;
  /** By document. */
  readonly #stored = new Map<string, Read>();
  /** Of which pages are kept. */
  readonly #kept = new Map<string, Read>();

  /** Watches the reads of one process. A document is named by its subject: it has one. */
  watch(messages: readonly Message[], now: () => number): ReadsOfProcess {
    const known = new Map<string, { readonly began: number; readonly stored: Read | undefined }>();
    const reads = new Map<string, Read | undefined>();
    return {
      load: (document) => {
        if (!known.has(document)) known.set(document, { began: now(), stored: this.#stored.get(document) });
      },
      call: (document, isFirstPage) => {
        if (!isFirstPage && !reads.has(document)) reads.set(document, this.#kept.get(document));
        if (!isFirstPage) return;
        const tasks = tasksOf(messages, document);
        const { began = 0, stored } = known.get(document) ?? {};
        this.#count(tasks, stored);
        reads.set(document, { began, messages: tasks.map(({ id }) => id) });
      },
      keep: (document) => void this.#keep(this.#kept, document, reads.get(document)),
      write: (document) => void this.#keep(this.#stored, document, reads.get(document)),
    };
  }

  #count(tasks: readonly Task[], stored: Read | undefined): void {
    this.made += 1;
    if (stored === undefined) return;
    if (tasks.every(({ since }) => since <= stored.began)) this.excess += 1;
    const isDone = ({ id, since }: Task) =>
      stored.messages.includes(id) || since + longestDoubt <= stored.began;
    if (tasks.every(isDone)) this.violation = "no call is made for tasks that are done";
  }

  #keep(reads: Map<string, Read>, document: string, read: Read | undefined): void {
    if (read !== undefined) reads.set(document, read);
  }
}

/** What a process does about a document. */
export type ReadsOfProcess = {
  readonly load: (document: string) => void;
  readonly call: (document: string, isFirstPage: boolean) => void;
  /** Keeps the pages that it has. */
  readonly keep: (document: string) => void;
  readonly write: (document: string) => void;
};

type Task = { readonly id: string; readonly since: number };

function tasksOf(messages: readonly Message[], document: string): readonly Task[] {
  return messages.flatMap(({ id, body }) => {
    const task = readTask(body);
    return task.type === "fetchDocument" && nameOf(task.subject) === document
      ? [{ id, since: task.since }]
      : [];
  });
}
