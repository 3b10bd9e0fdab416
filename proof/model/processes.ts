/** Outcome of a step: it succeeds; it fails without effect; it succeeds but is reported as failed. */
export const faults = ["none", "fails", "answer is lost"] as const;
export type Fault = (typeof faults)[number];

/**
 * Runs one effect outside a process at its turn.
 * @throws for a fault, and the effect's own errors
 */
export type Do = <T>(what: string, effect: () => T) => Promise<T>;

/** A possible next action of a process; concurrent work yields several. */
export type Step = { readonly what: string; readonly go: (fault: Fault) => void };

/** An invocation of a function, which waits before each effect and may stop at any of them. */
export class Process {
  readonly name: string;
  /** Time at which it is killed. */
  readonly deadline: number;
  /** Error of its own clock, in milliseconds. */
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
/** Milliseconds: of each ten clocks one is an hour ahead, and one an hour behind. */
const clockErrors = [0, 0, 3_600_000, 0, 0, 0, -3_600_000, 0, 0, 0] as const;

/** All running invocations. */
export class Processes {
  readonly #running = new Set<Process>();
  #started = 0;

  get running(): readonly Process[] {
    return [...this.#running];
  }

  /** Possible next steps of all processes. */
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
    // Errors are Lambda's to log; unfinished work is retried.
    work(process).then(end, end);
  }

  /**
   * Resolves when each process waits for its turn, or has ended.
   * @throws if one waits for something else
   */
  async pause(): Promise<void> {
    for (let looks = 0; looks < maxLooks; looks += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (this.running.every(({ next }) => next.size > 0)) return;
    }
    throw new Error("a process waits for something other than a step");
  }

  /** Completed effects stay; nothing more happens. */
  kill(process: Process): void {
    this.#running.delete(process);
  }

  killOlder(time: number): void {
    for (const process of this.#running) if (process.deadline <= time) this.#running.delete(process);
  }
}
