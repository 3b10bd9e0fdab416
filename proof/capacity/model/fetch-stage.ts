import { EventSource, type SourceSettings } from "./event-source.ts";
import type { SharedProvider, Wait } from "./provider.ts";

export type FetchSettings = SourceSettings & {
  readonly secondsPerCall: number;
  /** Of a batch that makes no call. */
  readonly secondsWithoutCall: number;
  readonly inFlightLimit: number;
  /** The longest that a task is hidden, and how often in a row; beyond it is sent again: see functions/fetch/retry-decision.ts. */
  readonly longestHiddenSeconds: number;
  readonly hiddenInARow: number;
  /** The longest delay of a message that is sent again. */
  readonly longestDelaySeconds: number;
};

/** Tasks in the queue and its function. Those that wait are hidden, which counts as in flight, or sent again with a delay. */
export class FetchStage {
  readonly #settings: FetchSettings;
  readonly #stepSeconds: number;
  readonly #provider: SharedProvider;
  readonly #random: () => number;
  readonly #source: EventSource;
  /** Of visible tasks, by how often they were hidden in a row. */
  readonly #visible: number[] = [];
  #visibleTasks = 0;
  /** By how often they were hidden: tasks that come back at each step of the longest wait, round and round. */
  readonly #back: readonly Int32Array[];
  readonly #doneAt: number[] = [];
  #hidden = 0;
  #delayed = 0;
  #working = 0;
  #done = 0;
  #calls = 0;
  #receipts = 0;

  constructor(settings: FetchSettings, stepSeconds: number, provider: SharedProvider, random: () => number) {
    this.#settings = settings;
    this.#stepSeconds = stepSeconds;
    this.#provider = provider;
    this.#random = random;
    this.#source = new EventSource(settings);
    const steps = Math.ceil(settings.longestDelaySeconds / stepSeconds) + 2;
    this.#back = Array.from({ length: settings.hiddenInARow + 1 }, () => new Int32Array(steps));
  }

  /** @param more tasks that the relay sent */
  step(step: number, more: number): void {
    const seconds = step * this.#stepSeconds;
    const done = this.#doneAt[step] ?? 0;
    this.#working -= done;
    this.#done += done;
    this.#comeBack(step);
    this.#show(0, more);
    this.#provider.advance(seconds);
    this.#source.advance(step, this.#stepSeconds, this.#visibleTasks > 0);
    let room = Math.min(this.#source.room(), this.#settings.inFlightLimit - this.#inFlight());
    while (room > 0 && this.#visibleTasks > 0) {
      const batch = this.#takeBatch(room);
      room -= this.#settings.batchSize;
      this.#work(batch, step, seconds);
    }
  }

  /** Each task is in one of `visible`, `hidden`, `delayed`, `working` and `done`, once. */
  counts() {
    return {
      visible: this.#visibleTasks,
      hidden: this.#hidden,
      delayed: this.#delayed,
      working: this.#working,
      done: this.#done,
      inFlight: this.#inFlight(),
      calls: this.#calls,
      receipts: this.#receipts,
      batches: this.#source.busy,
    };
  }

  /** @param times how often they were hidden in a row */
  #show(times: number, more: number): void {
    this.#visible[times] = (this.#visible[times] ?? 0) + more;
    this.#visibleTasks += more;
  }

  #inFlight(): number {
    return this.#hidden + this.#working;
  }

  #comeBack(step: number): void {
    for (const [times, back] of this.#back.entries()) {
      const slot = step % back.length;
      const count = back[slot] ?? 0;
      if (count === 0) continue;
      back[slot] = 0;
      this.#show(times, count);
      if (times === 0) this.#delayed -= count;
      else this.#hidden -= count;
    }
  }

  /** The tasks that waited longest first. */
  #takeBatch(room: number): readonly number[] {
    const batch: number[] = [];
    for (let times = this.#visible.length - 1; times >= 0; times -= 1) {
      const most = Math.min(this.#settings.batchSize, room) - batch.length;
      const taken = Math.min(this.#visible[times] ?? 0, most);
      this.#show(times, -taken);
      for (let count = 0; count < taken; count += 1) batch.push(times);
    }
    return batch;
  }

  #work(batch: readonly number[], step: number, seconds: number): void {
    const { secondsPerCall, secondsWithoutCall } = this.#settings;
    let isCalled = false;
    const after = (length: number) => step + Math.max(1, Math.round(length / this.#stepSeconds));
    this.#receipts += batch.length;
    for (const times of batch) {
      const wait = this.#provider.admit(seconds);
      if (wait !== undefined) {
        this.#postpone(wait, times, step);
        continue;
      }
      isCalled = true;
      this.#calls += 1;
      if (this.#provider.answers(seconds)) {
        this.#working += 1;
        const until = after(secondsPerCall);
        this.#doneAt[until] = (this.#doneAt[until] ?? 0) + 1;
      } else this.#postpone({ seconds: 0, spread: 2 }, times, step);
    }
    this.#source.start(after(isCalled ? secondsPerCall : secondsWithoutCall));
  }

  #postpone(wait: Wait, times: number, step: number): void {
    const { longestDelaySeconds, longestHiddenSeconds, hiddenInARow } = this.#settings;
    const seconds = Math.min(longestDelaySeconds, Math.max(1, wait.seconds + wait.spread * this.#random()));
    const isHidden = seconds <= longestHiddenSeconds && times < hiddenInARow;
    if (isHidden) this.#hidden += 1;
    else this.#delayed += 1;
    const due = step + Math.max(1, Math.ceil(seconds / this.#stepSeconds));
    const back = this.#back[isHidden ? times + 1 : 0];
    if (back !== undefined) back[due % back.length] = (back[due % back.length] ?? 0) + 1;
  }
}
