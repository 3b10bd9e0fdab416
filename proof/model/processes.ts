/** What becomes of a step: it is done; it fails before it has an effect; it is done, and reported to have failed. */
export const faults = ["none", "fails", "answer is lost"] as const;
export type Fault = (typeof faults)[number];

/**
 * Does one thing outside of a process, when it is its turn. @throws where a fault strikes, and what the effect throws
 */
export type Do = <T>(what: string, effect: () => T) => Promise<T>;

/** What a process does next; of things side by side it has several. */
export type Step = { readonly what: string; readonly go: (fault: Fault) => void };

/** One invocation of a function. It waits before each thing that it does, and may never get further. */
export class Process {
  readonly name: string;
  /** Then it is killed. */
  readonly deadline: number;
  /** By how much its own clock is wrong, in milliseconds. */
  readonly clockError: number;
  readonly next = new Set<Step>();

  constructor(name: string, deadline: number, clockError: number) {
    this.name = name;
    this.deadline = deadline;
    this.clockError = clockError;
  }

  readonly do: Do = async (what, effect) => {
    const fault = await new Promise<Fault>((resolve) => {
      const step: Step = {
        what,
        go: (strikes) => {
          this.next.delete(step);
          resolve(strikes);
        },
      };
      this.next.add(step);
    });
    if (fault === "fails") throw new Error("injected");
    const result = effect();
    if (fault === "answer is lost") throw new Error("injected");
    return result;
  };
}

const maxLooks = 1_000;
/** In milliseconds: of each ten clocks of processes one is an hour ahead, and one behind. */
const clockErrors = [0, 0, 3_600_000, 0, 0, 0, -3_600_000, 0, 0, 0] as const;

/** All invocations that run. */
export class Processes {
  readonly #running = new Set<Process>();
  #started = 0;

  get running(): readonly Process[] {
    return [...this.#running];
  }

  /** What can be done next, of all. */
  get steps(): readonly { readonly process: Process; readonly step: Step }[] {
    return this.running.flatMap((process) => [...process.next].map((step) => ({ process, step })));
  }

  count(name: string): number {
    return this.running.filter((process) => process.name === name).length;
  }

  start(name: string, deadline: number, work: (process: Process) => Promise<void>): void {
    const process = new Process(name, deadline, clockErrors[this.#started % clockErrors.length] ?? 0);
    this.#started += 1;
    this.#running.add(process);
    const end = () => void this.#running.delete(process);
    // What a process throws at last is Lambda's to log; whatever it left undone comes again.
    work(process).then(end, end);
  }

  /** Resolves when each process waits for its turn, or has ended. @throws where one waits for something else */
  async pause(): Promise<void> {
    for (let looks = 0; looks < maxLooks; looks += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (this.running.every(({ next }) => next.size > 0)) return;
    }
    throw new Error("a process waits for what is no step");
  }

  /** What it did stays done; nothing more of it happens. */
  kill(process: Process): void {
    this.#running.delete(process);
  }

  killOlder(time: number): void {
    for (const process of this.#running) if (process.deadline <= time) this.#running.delete(process);
  }
}
