import { failureOf } from "../../../domain/core/failures.ts";
import { readTaskText } from "../../../domain/fetch/tasks.ts";
import { read } from "../../../functions/fetch/read.ts";
import { ReadingStream } from "./reading-stream.ts";
import { type Mutation, processLifetime, ReadingTable } from "./reading-table.ts";

/** In seconds: SQS delivers a message again when the process that received it is dead for long. */
const visibility = 6 * processLifetime;
const maxSteps = 3_000;

type Message = { readonly body: string; visibleAt: number };
type Process = { readonly deadline: number; isSlow: boolean; next?: () => void };
type Action = () => void;

const possible = (isPossible: boolean, action: Action): readonly Action[] => (isPossible ? [action] : []);

/**
 * One endpoint's data, and all that can happen to it: events that repeat, a relay that hands over records again,
 * messages that come twice, processes that are killed at any point, calls that fail or take long. `random` picks
 * what happens next; disasters are limited, so that the world comes to rest.
 */
export class ReadingSimulation {
  readonly table: ReadingTable;
  readonly stream: ReadingStream;
  readonly #random: Iterator<number>;
  readonly #mutation: Mutation;
  readonly #left;
  #messages: Message[] = [];
  readonly #processes = new Set<Process>();
  #seconds = 0;

  constructor(events: number, random: Iterator<number>, mutation: Mutation = "none") {
    this.#left = { events, repeats: 3, replays: 3, doubles: 2, kills: 3, failures: 3, pauses: 6 };
    this.#random = random;
    this.#mutation = mutation;
    this.table = new ReadingTable(mutation);
    this.stream = new ReadingStream(this.table, (task) => this.#send(task, 0));
  }

  /** Runs until nothing is left to do. @throws where that never comes */
  async run(): Promise<void> {
    for (let steps = 0; steps < maxSteps; steps += 1) {
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
      ...possible(this.stream.isBehind, () => this.stream.relay()),
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
      ...possible(left.repeats > 0 && this.stream.events.length > 0, () => this.#repeat()),
      ...possible(left.replays > 0 && this.stream.relayed > 0, () => this.#replay()),
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

  #happen(): void {
    this.#left.events -= 1;
    this.stream.happen(this.#upTo(2) === 0);
  }

  #repeat(): void {
    this.#left.repeats -= 1;
    this.stream.receive(this.#pick(this.stream.events));
  }

  #replay(): void {
    this.#left.replays -= 1;
    this.stream.replay(1 + this.#upTo(3));
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
    const process: Process = { deadline: this.#seconds + processLifetime, isSlow: false };
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
      data: () => this.stream.data,
      isFailing: () => this.#isFailing(),
      write: (change) => this.stream.write(change),
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
    this.#passTo(this.#seconds + 1 + this.#upTo(2 * processLifetime));
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
