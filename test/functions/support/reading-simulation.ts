import { expect } from "vitest";
import { contentOf, type DocumentStore, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { retryable } from "../../../domain/core/failures.ts";
import { messageDigest } from "../../../domain/fetch/coverage.ts";
import { type DocumentTask, documentTask } from "../../../domain/fetch/task.ts";
import type { Delivered, TaskResult } from "../../../functions/fetch/delivered-tasks.ts";
import { type DocumentDependencies, fetchDocument } from "../../../functions/fetch/fetch-document.ts";
import { account } from "../../domain/samples.ts";

/** What is done otherwise than ours, to show that a law notices. */
export type Mutation = "none" | "any write is accepted" | "lost writes count" | "a clock is an hour ahead";

/** A call, when it began and for which messages, and whether its write was accepted. */
type Call = { readonly by: readonly string[]; isAccepted: boolean; readonly isNeeded: boolean };
type Message = {
  readonly id: string;
  readonly task: DocumentTask;
  visibleAt: number;
  receives: number;
  firstReceivedAt: number | undefined;
};
type Process = { isAlive: boolean; next?: () => void };
type Action = () => void;

const second = 1_000;
/** SQS delivers a message again when the process that received it is dead for long. */
const visibility = 60 * second;
const hour = 3_600 * second;
const maxSteps = 3_000;
const paths = { read: "/{account_id}/{endpoint}", readCompany: "/", account: "/", companyAccount: "/" };

/** No answer here has pages. */
const onePage = {
  provider: {
    paths: { ...paths, users: "/", refresh: "/" },
    paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 1 },
    timeouts: { connectSeconds: 1, headersSeconds: 1, bodySeconds: 1 },
    maxDataBytes: 1,
  },
  keptPages: {
    keep: async () => expect.fail("kept"),
    forget: async () => expect.fail("forgotten"),
    find: async () => undefined,
  },
  inTurn: <T>(work: (hasWaited: boolean) => Promise<T>) => work(false),
  timeLeft: () => hour,
  gate: async () => undefined,
  findErased: async () => new Set<string>(),
} as const;

/**
 * One document and all that can happen to it: events, messages that come twice, message groups whose lock is lost,
 * processes that are killed at any point, calls that fail, writes of which the answer is lost, and service clocks that
 * differ. `random` picks what happens next; disasters are limited, so that the world comes to rest.
 */
export class ReadingSimulation {
  readonly calls: Call[] = [];
  readonly asOfs: number[] = [];
  /** Rises with each event of the provider. */
  data = 0;
  stored: StoredDocument | undefined;
  storedData = 0;
  readonly #random: Iterator<number>;
  readonly #mutation: Mutation;
  readonly #left;
  #messages: Message[] = [];
  #sent = 0;
  #now = hour;
  readonly #processes = new Set<Process>();

  constructor(events: number, random: Iterator<number>, mutation: Mutation = "none") {
    this.#left = { events, doubles: 3, locks: 3, kills: 3, failures: 3, writes: 3, pauses: 8 };
    this.#random = random;
    this.#mutation = mutation;
  }

  /** Runs until nothing is left to do. @throws where that never comes */
  async run(): Promise<void> {
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const actions = this.#actions();
      if (actions.length > 0) this.#pick(actions)();
      else if (this.#messages.length > 0) this.#passToNext();
      else return;
      // Until each process waits for its turn again.
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error("something waits forever");
  }

  #actions(): readonly Action[] {
    const left = this.#left;
    const visible = this.#messages.filter(({ visibleAt }) => visibleAt <= this.#now);
    const isLocked = visible.length < this.#messages.length;
    const ready = [...this.#processes].filter(({ next }) => next !== undefined);
    return [
      ...ready.map((process) => () => this.#proceed(process)),
      ...(visible.length > 0 && !isLocked ? [() => this.#receive(visible)] : []),
      ...(left.locks > 0 && visible.length > 0 && isLocked ? [() => this.#lose("locks", visible)] : []),
      ...(left.doubles > 0 && this.#messages.length > 0 ? [() => this.#lose("doubles", this.#messages)] : []),
      ...(left.events > 0 ? [() => this.#happen()] : []),
      ...(left.kills > 0 && ready.length > 0 ? [() => this.#kill(this.#pick(ready))] : []),
      ...(left.pauses > 0 ? [() => this.#pause()] : []),
    ];
  }

  /** To when the next hidden message is seen: one that is hidden holds back its group. */
  #passToNext(): void {
    const hidden = this.#messages.map(({ visibleAt }) => visibleAt).filter((time) => time > this.#now);
    this.#now = Math.min(...hidden);
  }

  #happen(): void {
    this.#left.events -= 1;
    this.data += 1;
    this.#sent += 1;
    // SQS's clock is up to a second away from DynamoDB's.
    const since = this.#now + this.#upTo(2 * second) - second;
    const task = documentTask(account, { endpoint: "income" }, since, { cause: `e${this.#sent}.1` });
    const message = {
      id: `m${this.#sent}`,
      task,
      visibleAt: this.#now,
      receives: 0,
      firstReceivedAt: undefined,
    };
    this.#messages.push(message);
  }

  #lose(what: "locks" | "doubles", messages: readonly Message[]): void {
    this.#left[what] -= 1;
    this.#receive(messages);
  }

  #receive(messages: readonly Message[]): void {
    const batch = messages.slice(0, 1 + this.#upTo(messages.length));
    const process: Process = { isAlive: true };
    this.#processes.add(process);
    const delivered = batch.map((message): Delivered<DocumentTask> => {
      message.visibleAt = this.#now + visibility;
      message.receives += 1;
      message.firstReceivedAt ??= this.#now;
      const { id: messageId, receives, firstReceivedAt, task } = message;
      return { task, delivery: { messageId, sentAt: task.since, receives, firstReceivedAt } };
    });
    void fetchDocument(delivered, this.#portsOf(process, delivered)).then(
      (results) => this.#finishBatch(process, batch, results),
      () => this.#finishBatch(process, batch, []),
    );
  }

  #finishBatch(process: Process, batch: readonly Message[], results: readonly TaskResult[]): void {
    if (!process.isAlive) return;
    this.#processes.delete(process);
    for (const [index, message] of batch.entries()) {
      const result = results[index];
      if (result === "done" || result === "void")
        this.#messages = this.#messages.filter((each) => each !== message);
      else message.visibleAt = this.#now + 2 * second;
    }
  }

  #portsOf(process: Process, delivered: readonly Delivered<DocumentTask>[]): DocumentDependencies {
    let call: Call | undefined;
    const turn = () => this.#turn(process);
    const by = delivered.map(({ delivery }) => messageDigest(delivery.messageId));
    const documents: DocumentStore = {
      load: async () => {
        await turn();
        return this.stored;
      },
      save: async (known, next, content) => {
        await turn();
        const isLost = this.#left.writes > 0 && this.#upTo(4) === 0;
        if (isLost) this.#left.writes -= 1;
        const isMade = !isLost || this.#upTo(2) === 0;
        const isExpected =
          this.#mutation === "any write is accepted" || this.stored?.document.asOf === known?.document.asOf;
        if (isMade && isExpected) {
          this.stored = { document: next, place: {} };
          this.storedData = Number(Buffer.concat(content?.parts ?? []).toString());
          this.asOfs.push(next.asOf);
          if (call !== undefined) call.isAccepted = true;
        }
        if (isLost && this.#mutation !== "lost writes count") throw retryable("the answer was lost");
        return isExpected || isLost ? "written" : "conflict";
      },
    };
    return {
      ...onePage,
      untilReady: async () => undefined,
      documents,
      clock: () =>
        this.#mutation === "a clock is an hour ahead" && this.#upTo(3) === 0
          ? this.#now + hour
          : Math.floor(this.#now / second) * second,
      call: async () => {
        const before = this.stored?.document.by ?? [];
        call = { by, isAccepted: false, isNeeded: by.some((digest) => !before.includes(digest)) };
        this.calls.push(call);
        await turn();
        const text = String(this.data);
        await turn();
        if (this.#left.failures > 0 && this.#upTo(4) === 0) {
          this.#left.failures -= 1;
          throw retryable("the provider answered 503");
        }
        return { found: true, text: Buffer.concat(contentOf(text).parts).toString() };
      },
    };
  }

  #turn(process: Process): Promise<void> {
    return new Promise((resolve) => {
      if (process.isAlive) process.next = resolve;
    });
  }

  #proceed(process: Process): void {
    const { next } = process;
    delete process.next;
    next?.();
  }

  #kill(process: Process): void {
    this.#left.kills -= 1;
    process.isAlive = false;
    this.#processes.delete(process);
  }

  #pause(): void {
    this.#left.pauses -= 1;
    this.#now += 1 + this.#upTo(2 * visibility);
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[this.#upTo(list.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  }

  #upTo(limit: number): number {
    return (this.#random.next().value ?? 0) % limit;
  }
}
