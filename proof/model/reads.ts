import { nameOf } from "../../domain/event/subjects.ts";
import { readTask } from "../../domain/fetch/task.ts";
import { endpoint } from "./provider.ts";
import type { Message } from "./queue.ts";

/**
 * A read of a document: when the state before it was read, and for which messages. By the world's own clock.
 */
type Read = { readonly began: number; readonly messages: readonly string[] };

/**
 * Milliseconds: two seconds of clock tolerance, one for the gap between them, one for a date in whole
 * seconds.
 */
const longestDoubt = 4_000;

/**
 * Checks that the provider's documents of one endpoint are read as rarely as possible, from knowledge that
 * the pipeline lacks.
 */
export class Reads {
  made = 0;
  /** Unneeded reads: none of their tasks was sent after the read of the stored document had begun. */
  excess = 0;
  violation: string | undefined;
  /** By document: a subject has one of the endpoint. */
  readonly #stored = new Map<string, Read>();
  /** Documents with saved pages. */
  readonly #kept = new Map<string, Read>();

  /** Watches the reads of one process. Each subject has one document of the endpoint. */
  watch(messages: readonly Message[], now: () => number) {
    const known = new Map<string, { readonly began: number; readonly stored: Read | undefined }>();
    const reads = new Map<string, Read | undefined>();
    const atStart = new Map(this.#stored);
    return {
      load: (document: string): void => {
        if (!known.has(document)) known.set(document, { began: now(), stored: this.#stored.get(document) });
      },
      call: (document: string, isFirstPage: boolean): void => {
        if (!isFirstPage && !reads.has(document)) reads.set(document, this.#kept.get(document));
        if (!isFirstPage) return;
        const tasks = tasksOf(messages, document);
        const { began = 0, stored } = known.get(document) ?? {};
        // An early call begins beside the read of the stored document, and knows less.
        this.#count(tasks, stored, tasks.every(isCalledEarly) ? atStart.get(document) : stored);
        reads.set(document, { began, messages: tasks.map(({ id }) => id) });
      },
      violation: (what: string): void => {
        this.violation = what;
      },
      /** Saves the pages read so far. */
      keep: (document: string) => void this.#keep(this.#kept, document, reads.get(document)),
      write: (document: string) => void this.#keep(this.#stored, document, reads.get(document)),
    };
  }

  #count(tasks: readonly Task[], stored: Read | undefined, known: Read | undefined): void {
    this.made += 1;
    if (stored !== undefined && tasks.every(({ since }) => since <= stored.began)) this.excess += 1;
    if (known === undefined) return;
    const isDone = ({ id, since }: Task) =>
      known.messages.includes(id) || since + longestDoubt <= known.began;
    if (tasks.every(isDone)) this.violation = "no call is made for tasks that are done";
  }

  #keep(reads: Map<string, Read>, document: string, read: Read | undefined): void {
    if (read !== undefined) reads.set(document, read);
  }
}

/** A process's effects on a document. */
export type ReadsOfProcess = ReturnType<Reads["watch"]>;

type Task = {
  readonly id: string;
  readonly since: number;
  readonly waited: number;
  readonly receives: number;
};

function isCalledEarly({ waited, receives }: Task): boolean {
  return receives === 1 && waited < 1_000;
}

function tasksOf(messages: readonly Message[], document: string): readonly Task[] {
  return messages.flatMap(({ id, body, receives, firstReceivedAt }) => {
    const task = readTask(body);
    return task.type === "fetchDocument" && task.endpoint === endpoint && nameOf(task.subject) === document
      ? [{ id, since: task.since, waited: firstReceivedAt - task.since, receives }]
      : [];
  });
}
