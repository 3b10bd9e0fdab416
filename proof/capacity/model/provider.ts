import {
  type Breaker,
  type BreakerSettings,
  closed,
  reopened,
  spreadInSeconds,
} from "../../../domain/fetch/breaker.ts";
import { windowsOf } from "../../../domain/fetch/pacing.ts";

export type ProviderModel = {
  readonly requestsPerMinute: number;
  readonly breaker: BreakerSettings;
  /** An answer, or an error, takes so long. */
  readonly secondsPerCall: number;
  /** The longest call: so long one caller probes alone. */
  readonly leaseSeconds: number;
  readonly isDown: (seconds: number) => boolean;
};

/** Why a task waits: at least for so long, and up to `spread` longer. */
export type Wait = { readonly seconds: number; readonly spread: number };

/** How long those spread who wait for the rate: see adapters/provider/rate-limiter.ts. */
const rateSpreadInSeconds = 60;

/** What all callers share: the windows of the rate, and the breaker. The rules are the product's own. */
export class SharedProvider {
  readonly #model: ProviderModel;
  readonly #random: () => number;
  readonly #windowInSeconds: number;
  readonly #callsPerWindow: number;
  #breaker: Breaker = closed;
  #probeEnds: number | undefined;
  #failuresInARow = 0;
  #window = -1;
  #used = 0;

  constructor(model: ProviderModel, random: () => number) {
    this.#model = model;
    this.#random = random;
    const { windowInSeconds, callsPerWindow } = windowsOf(model.requestsPerMinute);
    this.#windowInSeconds = windowInSeconds;
    this.#callsPerWindow = callsPerWindow;
  }

  get isOpen(): boolean {
    return this.#breaker.openUntil > 0;
  }

  /** What a probe found, once it has its answer. */
  advance(seconds: number): void {
    if (this.#probeEnds === undefined || seconds < this.#probeEnds) return;
    this.#probeEnds = undefined;
    if (this.#model.isDown(seconds)) this.#open(seconds);
    else this.#breaker = closed;
  }

  /** @returns the wait where no call is made; undefined for a call, of which `answers` reports the rest */
  admit(seconds: number): Wait | undefined {
    const { breaker, leaseSeconds, secondsPerCall } = this.#model;
    if (this.isOpen && this.#probeEnds === undefined && seconds * 1000 >= this.#breaker.openUntil) {
      if (!this.#take(seconds)) return this.#untilNextWindow(seconds);
      this.#probeEnds = seconds + secondsPerCall;
      this.#breaker = { ...this.#breaker, openUntil: (seconds + leaseSeconds) * 1000 };
      return undefined;
    }
    if (this.isOpen) {
      const left = Math.max(0, this.#breaker.openUntil / 1000 - seconds);
      return { seconds: left, spread: spreadInSeconds(this.#breaker, breaker) };
    }
    return this.#take(seconds) ? undefined : this.#untilNextWindow(seconds);
  }

  /** A call was answered, or failed. */
  answers(seconds: number): boolean {
    if (!this.#model.isDown(seconds)) {
      this.#failuresInARow = 0;
      return true;
    }
    this.#failuresInARow += 1;
    if (!this.isOpen && this.#failuresInARow >= this.#model.breaker.failures) this.#open(seconds);
    return false;
  }

  #open(seconds: number): void {
    this.#failuresInARow = 0;
    this.#breaker = reopened(this.#breaker, new Date(seconds * 1000), this.#model.breaker, this.#random());
  }

  #take(seconds: number): boolean {
    const window = Math.floor(seconds / this.#windowInSeconds + 1e-9);
    if (window !== this.#window) {
      this.#window = window;
      this.#used = 0;
    }
    if (this.#used >= this.#callsPerWindow) return false;
    this.#used += 1;
    return true;
  }

  #untilNextWindow(seconds: number): Wait {
    return {
      seconds: Math.max(0, (this.#window + 1) * this.#windowInSeconds - seconds),
      spread: rateSpreadInSeconds,
    };
  }
}
