import type { DeadLetter, DeadLetterSource } from "../../../domain/recovery/dead-letter.ts";
import type { EraserDependencies } from "../../../functions/erase/dependencies.ts";

/** Steps until messages that a killed reader hid reappear; longer than both passes take to look. */
const hiddenSteps = 10;

/** Throws if the calling function has ended. */
type Burn = () => void;

/** Dead letters: in a queue, whose readers hide them from all others, or in the archive, which hides none. */
export class DeadLetters {
  readonly #hides: boolean;
  #all: readonly DeadLetter[] = [];
  /** Steps until each is visible again. */
  readonly #hidden = new Map<DeadLetter, number>();

  constructor({ hides }: { readonly hides: boolean }) {
    this.#hides = hides;
  }

  add(messageId: string, body: string): void {
    this.#all = [...this.#all, { messageId, sentAt: new Date(0), receives: 1, body }];
  }

  bodies(): readonly string[] {
    return this.#all.map(({ body }) => body);
  }

  /** Another reader receives all, and is killed. */
  hideAll(): void {
    if (!this.#hides) return;
    for (const each of this.#visible()) this.#hidden.set(each, hiddenSteps);
  }

  tick(): void {
    for (const [each, steps] of this.#hidden) {
      if (steps <= 1) this.#hidden.delete(each);
      else this.#hidden.set(each, steps - 1);
    }
  }

  source(burn: Burn): DeadLetterSource {
    return async (handle) => {
      burn();
      const held = this.#visible();
      this.hideAll();
      const { done } = await handle(held);
      burn();
      this.#all = this.#all.filter((each) => !done.includes(each));
      const mayHaveMore = this.#all.length > held.length - done.length;
      for (const each of held) this.#hidden.delete(each);
      return { notRemoved: 0, mayHaveMore };
    };
  }

  #visible(): readonly DeadLetter[] {
    return this.#all.filter((each) => !this.#hidden.has(each));
  }
}

/** A lease for one run at a time; a killed run keeps it until its hidden messages reappear. */
export class Lease {
  #stepsLeft = 0;

  tick(): void {
    this.#stepsLeft -= 1;
  }

  take(burn: Burn): EraserDependencies["takeSweep"] {
    return async () => {
      burn();
      if (this.#stepsLeft > 0) return undefined;
      this.#stepsLeft = hiddenSteps;
      return async () => {
        burn();
        this.#stepsLeft = 0;
      };
    };
  }
}
