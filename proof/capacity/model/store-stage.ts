import { EventSource, type SourceSettings } from "./event-source.ts";

export type StoreSettings = SourceSettings & {
  readonly secondsPerBatch: number;
  /** What the API lets through in a second, and at once beyond it. */
  readonly throttle: { readonly perSecond: number; readonly burst: number };
  /** So long later the provider delivers again what was refused. */
  readonly retrySeconds: number;
  readonly inFlightLimit: number;
};

/** From the webhook to the table: what comes in is refused and sent again, waits in the queue, or is stored. */
export class StoreStage {
  readonly #settings: StoreSettings;
  readonly #stepSeconds: number;
  readonly #source: EventSource;
  readonly #again: number[] = [];
  readonly #storedAt: number[] = [];
  #tokens: number;
  #owed = 0;
  #working = 0;
  #sent = 0;
  #refused = 0;
  #waiting = 0;
  #stored = 0;

  constructor(settings: StoreSettings, stepSeconds: number) {
    this.#settings = settings;
    this.#stepSeconds = stepSeconds;
    this.#source = new EventSource(settings);
    this.#tokens = settings.throttle.burst;
  }

  /** @returns how many were stored in this step */
  step(step: number, deliveriesPerSecond: number): number {
    const stored = this.#finish(step);
    this.#receive(step, deliveriesPerSecond);
    this.#source.advance(step, this.#stepSeconds, this.#waiting > 0);
    this.#hand(step);
    return stored;
  }

  /** Each delivery is in one of these, once. */
  counts() {
    return {
      sent: this.#sent,
      refused: this.#refused,
      waiting: this.#waiting,
      working: this.#working,
      stored: this.#stored,
      batches: this.#source.busy,
    };
  }

  #finish(step: number): number {
    const stored = this.#storedAt[step] ?? 0;
    this.#working -= stored;
    this.#stored += stored;
    return stored;
  }

  /** A bucket of tokens, as API Gateway throttles a route. */
  #receive(step: number, perSecond: number): void {
    const { throttle, retrySeconds } = this.#settings;
    this.#owed += perSecond * this.#stepSeconds;
    const fresh = Math.floor(this.#owed);
    this.#owed -= fresh;
    this.#sent += fresh;
    const again = this.#again[step] ?? 0;
    this.#refused -= again;
    this.#tokens = Math.min(throttle.burst, this.#tokens + throttle.perSecond * this.#stepSeconds);
    const taken = Math.min(fresh + again, Math.floor(this.#tokens));
    this.#tokens -= taken;
    this.#waiting += taken;
    const refused = fresh + again - taken;
    this.#refused += refused;
    const later = step + Math.max(1, Math.round(retrySeconds / this.#stepSeconds));
    this.#again[later] = (this.#again[later] ?? 0) + refused;
  }

  #hand(step: number): void {
    const { batchSize, secondsPerBatch, inFlightLimit } = this.#settings;
    const until = step + Math.max(1, Math.round(secondsPerBatch / this.#stepSeconds));
    // Batches that are shorter than a step follow one another within it.
    const turns = Math.max(1, this.#stepSeconds / secondsPerBatch);
    let room = Math.min(Math.floor(this.#source.room() * turns), inFlightLimit - this.#working);
    for (let batches = 0; this.#waiting > 0 && room > 0; batches += 1) {
      const size = Math.min(batchSize, this.#waiting, room);
      if (batches % Math.floor(turns) === 0) this.#source.start(until);
      this.#waiting -= size;
      this.#working += size;
      this.#storedAt[until] = (this.#storedAt[until] ?? 0) + size;
      room -= size;
    }
  }
}
