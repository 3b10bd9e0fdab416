/** What becomes of a step. Of a batch one entry may fail alone; `pick` says which. */
export type Fault = {
  readonly kind: "none" | "fails" | "answer is lost" | "one fails";
  readonly pick: number;
};

export const noFault: Fault = { kind: "none", pick: 0 };

/** What a process does next. */
export type Step = { readonly what: string };

/** A process: it waits before each step, is told what becomes of it, and may never get further. */
export type Work<T = void> = Generator<Step, T, Fault>;

/** An entry's answer in a batch; without one nobody knows whether it was done. */
export type Answer<T> = { readonly is: T } | "none";

export class StepFailed extends Error {}

/** Does one thing outside of a process. @throws where a fault strikes */
export function* step<T>(what: string, effect: () => T): Work<T> {
  const { kind } = yield { what };
  if (kind === "fails" || kind === "one fails") throw new StepFailed(what);
  const result = effect();
  if (kind === "answer is lost") throw new StepFailed(what);
  return result;
}

/** Does the entries of one request. It never throws: an entry that failed has no answer. */
export function* batchStep<T>(what: string, effects: readonly (() => T)[]): Work<readonly Answer<T>[]> {
  if (effects.length === 0) return [];
  const { kind, pick } = yield { what };
  const isLost = kind === "answer is lost";
  return effects.map((effect, index) => {
    const isStruck = kind === "fails" || (kind === "one fails" && index === pick % effects.length);
    if (isStruck) return "none";
    const is = effect();
    return isLost ? "none" : { is };
  });
}

/** Does a step; where it fails there is no result. */
export function* attempt<T>(work: Work<T>): Work<Answer<T>> {
  try {
    return { is: yield* work };
  } catch (error) {
    if (error instanceof StepFailed) return "none";
    throw error;
  }
}

export type Running = {
  readonly name: string;
  readonly work: Work;
  /** By how much its own clock is wrong, in milliseconds. */
  readonly skew: number;
  /** Lambda ends it then. */
  readonly deadline: number;
  what: string;
};

/** All invocations that run. */
export class Processes {
  running: readonly Running[] = [];
  #started = 0;

  count(name: string): number {
    return this.running.filter((process) => process.name === name).length;
  }

  /** @param work is told how wrong the process's clock is: an hour in a tenth of all */
  start(name: string, deadline: number, work: (skew: number) => Work): void {
    this.#started += 1;
    const skew = this.#started % 10 === 3 ? 3_600_000 : this.#started % 10 === 7 ? -3_600_000 : 0;
    const process: Running = { name, work: work(skew), skew, deadline, what: "" };
    this.running = [...this.running, process];
    this.#advance(process, undefined);
  }

  go(process: Running, fault: Fault): void {
    this.#advance(process, fault);
  }

  /** What it did stays done; nothing more of it happens. */
  kill(process: Running): void {
    this.running = this.running.filter((other) => other !== process);
  }

  killOlder(now: number): void {
    this.running = this.running.filter(({ deadline }) => deadline > now);
  }

  #advance(process: Running, fault: Fault | undefined): void {
    try {
      const { done, value } = fault === undefined ? process.work.next(noFault) : process.work.next(fault);
      if (done === true) this.kill(process);
      else process.what = value.what;
    } catch (error) {
      // What a process throws at last is Lambda's to log; whatever it left undone comes again.
      this.kill(process);
      if (!(error instanceof StepFailed)) throw error;
    }
  }
}
