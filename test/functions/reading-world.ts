import { type Change, consequencesOf } from "../../domain/changes.ts";
import { type DataSet, want } from "../../domain/data-set.ts";
import type { IncomeEvent } from "../../domain/events.ts";
import { failureOf } from "../../domain/failures.ts";
import { readTaskText, writeTask } from "../../domain/tasks.ts";
import { read } from "../../functions/fetch/read.ts";
import { account, eventOf } from "../domain/samples.ts";
import { type Mutation, processLife, ReadingTable } from "./reading-table.ts";

const endpoint = "income";
/** In seconds: SQS delivers a message again when the process that received it is dead for long. */
const visibility = 6 * processLife;
const mostSteps = 3_000;

type Message = { readonly body: string; visibleAt: number };
type Process = { readonly deadline: number; isSlow: boolean; next?: () => void };
type Action = () => void;

const possible = (isPossible: boolean, action: Action): readonly Action[] => (isPossible ? [action] : []);

/**
 * One endpoint's data, and all that can happen to it: events that repeat, a relay that hands over records again,
 * messages that come twice, processes that are killed at any point, calls that fail or take long. `random` picks
 * what happens next; disasters are limited, so that the world comes to rest.
 */
export class ReadingWorld {
  /** Rises with each event of the provider. */
  data = 0;
  readonly table: ReadingTable;
  readonly done: number[] = [];
  readonly #random: Iterator<number>;
  readonly #mutation: Mutation;
  readonly #left;
  readonly #events: IncomeEvent[] = [];
  readonly #receipts = new Map<string, number>();
  readonly #records: Change[] = [];
  #relayed = 0;
  #messages: Message[] = [];
  readonly #processes = new Set<Process>();
  #seconds = 0;

  constructor(events: number, random: Iterator<number>, mutation: Mutation = "none") {
    this.#left = { events, repeats: 3, replays: 3, doubles: 2, kills: 3, failures: 3, pauses: 6 };
    this.#random = random;
    this.#mutation = mutation;
    this.table = new ReadingTable(mutation);
  }

  /** Runs until nothing is left to do. @throws where that never comes */
  async run(): Promise<void> {
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const usual = this.#usual();
      const rare = this.#rare();
      // Or nothing would get far enough to be hit by what is rare.
      const actions = usual.length === 0 || (rare.length > 0 && this.#upTo(6) === 0) ? rare : usual;
      const earliest = Math.min(...this.#messages.map(({ visibleAt }) => visibleAt));
      if (actions.length > 0) this.#pick(actions)();
      else if (this.#messages.length > 0) this.#passTo(earliest);
      else return;
      // Until each process waits for its turn again.
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error("something waits forever");
  }

  #usual(): readonly Action[] {
    const visible = this.#messages.filter(({ visibleAt }) => visibleAt <= this.#seconds);
    return [
      ...possible(this.#relayed < this.#records.length, () => this.#relay()),
      ...visible.map((message) => () => this.#receive(message)),
      ...this.#turnsOf(({ isSlow }) => !isSlow),
    ];
  }

  #rare(): readonly Action[] {
    const left = this.#left;
    const hidden = this.#messages.filter(({ visibleAt }) => visibleAt > this.#seconds);
    const ready = this.#ready();
    return [
      ...this.#turnsOf(({ isSlow }) => isSlow),
      ...possible(left.events > 0, () => this.#happen()),
      ...possible(left.repeats > 0 && this.#events.length > 0, () => this.#repeat()),
      ...possible(left.replays > 0 && this.#relayed > 0, () => this.#replay()),
      ...possible(left.doubles > 0 && hidden.length > 0, () => this.#double(this.#pick(hidden))),
      ...possible(left.kills > 0 && ready.length > 0, () => this.#kill(this.#pick(ready))),
      ...possible(left.pauses > 0, () => this.#pause()),
    ];
  }

  #turnsOf(isChosen: (process: Process) => boolean): readonly Action[] {
    return this.#ready()
      .filter(isChosen)
      .map((process) => () => this.#proceed(process));
  }

  /** The processes whose turn it can be. */
  #ready(): readonly Process[] {
    return [...this.#processes].filter(({ next }) => next !== undefined);
  }

  /** New data and its event: of bytes that come again, or with an id of its own. */
  #happen(): void {
    this.#left.events -= 1;
    this.data += 1;
    const own = this.#upTo(2) === 0 ? {} : { eventId: `e-${this.data}` };
    const event = eventOf("endpoint.updated", { endpoint, dataAvailable: true, ...own });
    this.#events.push(event);
    this.#record(event);
  }

  #repeat(): void {
    this.#left.repeats -= 1;
    this.#record(this.#pick(this.#events));
  }

  #record(event: IncomeEvent): void {
    const receipts = (this.#receipts.get(event.id) ?? 0) + 1;
    this.#receipts.set(event.id, receipts);
    this.#records.push({ of: "event", event, receipts });
  }

  #relay(): void {
    const change = this.#records[this.#relayed];
    this.#relayed += 1;
    for (const consequence of change === undefined ? [] : consequencesOf(change, "urn:test")) {
      if (consequence.do === "call") this.#send(writeTask(consequence.task), 0);
      else if (consequence.do === "want") {
        const { event, receipts } = consequence;
        this.#write((known) => want(known, account, { endpoint }, event, receipts));
      }
    }
  }

  #replay(): void {
    this.#left.replays -= 1;
    this.#relayed = Math.max(0, this.#relayed - 1 - this.#upTo(3));
  }

  #write(change: (known: DataSet | undefined) => DataSet | undefined): void {
    const before = this.table.known;
    const after = change(before);
    if (after === undefined) return;
    this.#records.push({ of: "data", before, after });
    this.table.known = after;
    this.done.push(after.done);
  }

  #send(body: string, delayInSeconds: number): void {
    this.#messages.push({ body, visibleAt: this.#seconds + delayInSeconds });
  }

  #double(message: Message): void {
    this.#left.doubles -= 1;
    this.#receive(message);
  }

  #receive(message: Message): void {
    message.visibleAt = this.#seconds + visibility;
    const process: Process = { deadline: this.#seconds + processLife, isSlow: false };
    this.#processes.add(process);
    void this.#perform(message.body, process).then(() => {
      this.#processes.delete(process);
      this.#messages = this.#messages.filter((each) => each !== message);
    });
  }

  /** Killed at its last turn, a process has done its work, or sent its task again, and its message comes again. */
  async #perform(body: string, process: Process): Promise<void> {
    const task = readTaskText(body);
    const turn = () => this.#turn(process);
    const ports = this.table.portsOf({
      turn,
      seconds: () => this.#seconds,
      data: () => this.data,
      isFailing: () => this.#isFailing(),
      write: (change) => this.#write(change),
    });
    try {
      if (task.task === "read") await read(task, ports);
    } catch (error) {
      const failure = failureOf(error);
      const isDropped = this.#mutation === "refused tasks are dropped" && failure.reason === "claimed";
      if (failure.kind === "retryable" && !isDropped) this.#send(body, Math.max(1, failure.delayInSeconds));
    }
    await turn();
  }

  #turn(process: Process): Promise<void> {
    process.isSlow = this.#upTo(6) === 0;
    return new Promise((resolve) => {
      process.next = resolve;
    });
  }

  #proceed(process: Process): void {
    const { next } = process;
    delete process.next;
    next?.();
  }

  #kill(process: Process): void {
    this.#left.kills -= 1;
    this.#processes.delete(process);
  }

  #isFailing(): boolean {
    const isFailing = this.#left.failures > 0 && this.#upTo(4) === 0;
    if (isFailing) this.#left.failures -= 1;
    return isFailing;
  }

  #pause(): void {
    this.#left.pauses -= 1;
    this.#passTo(this.#seconds + 1 + this.#upTo(2 * processLife));
  }

  #passTo(seconds: number): void {
    this.#seconds = seconds;
    for (const process of this.#processes) if (process.deadline <= seconds) this.#processes.delete(process);
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
