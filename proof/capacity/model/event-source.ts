/** How Lambda scales what polls a queue for a function. */
export type SourceSettings = {
  /** Batches at once from the beginning, and at rest. */
  readonly first: number;
  /** More batches at once in each minute in which messages are waiting. */
  readonly morePerMinute: number;
  /** Batches at once: of the mapping's `maxConcurrency`, of Lambda, or of the account's quota, whichever is least. */
  readonly most: number;
  readonly batchSize: number;
};

/** Batches that a function works on, and those that may join them. */
export class EventSource {
  readonly #settings: SourceSettings;
  readonly #endsAt: number[] = [];
  #pollers: number;
  #busy = 0;

  constructor(settings: SourceSettings) {
    this.#settings = settings;
    this.#pollers = Math.min(settings.first, settings.most);
  }

  get busy(): number {
    return this.#busy;
  }

  /** Goes on to a step; batches that end with it are free again. */
  advance(step: number, stepSeconds: number, isAnyWaiting: boolean): void {
    this.#busy -= this.#endsAt[step] ?? 0;
    const { first, most, morePerMinute } = this.#settings;
    const change = (morePerMinute / 60) * stepSeconds * (isAnyWaiting ? 1 : -1);
    this.#pollers = Math.min(most, Math.max(Math.min(first, most), this.#pollers + change));
  }

  /** How many messages can be handed over now. */
  room(): number {
    return Math.max(0, Math.floor(this.#pollers) - this.#busy) * this.#settings.batchSize;
  }

  /** A batch is with the function until a step. */
  start(until: number): void {
    this.#busy += 1;
    this.#endsAt[until] = (this.#endsAt[until] ?? 0) + 1;
  }
}
