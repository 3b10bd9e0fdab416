import { type RunningImplementation, startImplementation } from "../drive/running-implementation.ts";
import { type Implementation, implementations, titles } from "../implementations.ts";
import { type BenchProvider, startProvider } from "../provider.ts";
import { type Webhook, type WorkloadShape, workload } from "../workload.ts";
import { type Spending, spendingOf } from "./spending.ts";

/** What each implementation used, round by round. */
export type Measured = Readonly<Record<Implementation, readonly Spending[]>>;

type Contender = { readonly running: RunningImplementation; readonly provider: BenchProvider };

/** Implementations that run beside each other, each with its own engines and provider. */
export class Contenders implements AsyncDisposable {
  readonly delivered: Webhook[] = [];
  readonly #cleanup: AsyncDisposableStack;
  readonly #contenders: readonly Contender[];
  readonly #onProgress: (step: string) => void;

  static async start(
    onProgress: (step: string) => void,
    which: readonly Implementation[] = implementations,
  ): Promise<Contenders> {
    await using starting = new AsyncDisposableStack();
    const contenders: Contender[] = [];
    for (const implementation of which) {
      onProgress(`starting ${titles[implementation]}`);
      const provider = starting.use(await startProvider());
      contenders.push({
        running: starting.use(await startImplementation(implementation, provider)),
        provider,
      });
    }
    return new Contenders(starting.move(), contenders, onProgress);
  }

  private constructor(
    cleanup: AsyncDisposableStack,
    contenders: readonly Contender[],
    onProgress: (step: string) => void,
  ) {
    this.#cleanup = cleanup;
    this.#contenders = contenders;
    this.#onProgress = onProgress;
  }

  get running(): readonly RunningImplementation[] {
    return this.#contenders.map(({ running }) => running);
  }

  of(implementation: Implementation): Contender {
    const found = this.#contenders.find(({ running }) => running.implementation === implementation);
    if (found === undefined) throw new Error(`${implementation} is not running`);
    return found;
  }

  /**
   * Lets all take the same loads. Each round begins with another implementation, because the later ones find warmer caches.
   * @param shape each round adds its number to the seed
   */
  async measure(shape: WorkloadShape, rounds: number): Promise<Measured> {
    const found: Record<Implementation, Spending[]> = { ours: [], powertools: [], plain: [], floor: [] };
    for (let round = 0; round < rounds; round += 1) {
      const load = workload({ ...shape, seed: shape.seed + round });
      this.delivered.push(...load);
      const turns = this.#contenders.map((_, turn) => (turn + round) % this.#contenders.length);
      for (const { running, provider } of turns.flatMap((turn) => this.#contenders[turn] ?? [])) {
        found[running.implementation].push(await spendingOf(running, load, provider));
        const share = Math.round(shape.duplicates * 100);
        const title = titles[running.implementation];
        this.#onProgress(`${share} % duplicates, round ${round + 1} of ${rounds}, ${title}`);
      }
    }
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cleanup.disposeAsync();
  }
}
