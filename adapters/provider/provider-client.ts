import { setTimeout as sleepFor } from "node:timers/promises";
import { FailureError, isNotReady, isRefusedCall, waiting } from "../../domain/core/failures.ts";
import type { CallResult } from "../../domain/fetch/breaker.ts";
import type { TokenVersion } from "../../domain/fetch/token-succession.ts";
import type { SecretReader } from "../secrets/secret-reader.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { type ApiAnswer, type ApiCall, type ProviderApi, Unauthorized } from "./provider-api.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { TokenRefusals } from "./token-refusals.ts";

/** Why a call waits that nobody has set a token for. */
export const noToken = "no token is set";

/** How long a task waits for a token that is missing, or was refused twice. */
const tokenWaitInSeconds = 60;

export type GuardedApiOptions = {
  readonly api: Pick<ProviderApi, "send">;
  readonly limiter: Pick<RateLimiter, "permit" | "gate">;
  /** Absent for the calls that keep the token alive: their path may answer while data paths fail. */
  readonly breaker?: Pick<CircuitBreaker, "admit" | "gate"> | undefined;
  /** How long a call waits for the rate before it fails; 0 where its task can wait better. */
  readonly patienceInSeconds: number;
  readonly now: () => Date;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
};

/**
 * Guards each call to the provider, a repeated one included: the circuit breaker admits it, the rate permits it, and
 * its result is reported to the breaker. A run of refusals of different calls counts like an outage.
 */
export class GuardedApi {
  readonly #options: GuardedApiOptions;
  readonly #refusals: Refusals;

  constructor(options: GuardedApiOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options.now);
  }

  /** @throws as `ProviderApi.send` does; a retryable failure while the breaker is open or the rate is used up */
  async send(token: string, call: ApiCall): Promise<ApiAnswer> {
    const { api, breaker } = this.#options;
    const report = await breaker?.admit();
    await this.#permit();
    try {
      const answer = await api.send(token, call);
      this.#refusals.answered(call.path);
      await report?.("healthy");
      return answer;
    } catch (error) {
      if (isNotReady(error)) this.#refusals.answered(call.path);
      const isRepeated = isRefusedCall(error) && this.#refusals.refused(call.path);
      await report?.(isRepeated ? { pauseInSeconds: 0, isRepeated } : callResultOf(error));
      throw this.#refusals.judged(error, call.path);
    }
  }

  /** Throws what a call would throw for the breaker or the rate, and makes none. */
  async check(): Promise<void> {
    await this.#options.breaker?.gate();
    this.#options.limiter.gate();
  }

  /** Asks again when the next window of the rate begins, until the patience ends. */
  async #permit(): Promise<void> {
    const { limiter, patienceInSeconds, now, sleep = sleepFor } = this.#options;
    const end = now().getTime() + patienceInSeconds * 1000;
    for (;;) {
      try {
        return await limiter.permit();
      } catch (error) {
        const wait = waitOf(error);
        if (wait === undefined || now().getTime() + wait >= end) throw error;
        await sleep(wait);
      }
    }
  }
}

/** Calls to the provider with the current token. A refused token is read again, and the call made once more. */
export class ProviderClient {
  readonly #api: Pick<GuardedApi, "send" | "check">;
  readonly #secret: SecretReader<TokenVersion>;
  readonly #refusals: TokenRefusals;
  #rereading: Promise<TokenVersion> | undefined;

  constructor(
    api: Pick<GuardedApi, "send" | "check">,
    secret: SecretReader<TokenVersion>,
    refusals: TokenRefusals,
  ) {
    this.#api = api;
    this.#secret = secret;
    this.#refusals = refusals;
  }

  /**
   * @throws as `GuardedApi.send` does, and a waiting failure while the provider takes no token. A second 401 fails this
   * call only; it is reported, so that the token is refreshed.
   */
  async call(call: ApiCall): Promise<ApiAnswer> {
    const first = await this.#secret.read();
    try {
      return await this.#attempt(call, first);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
    }
    const second = await this.#readOther(first);
    try {
      return await this.#attempt(call, second);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
    }
    await this.#refusals.report(second.versionId);
    throw waiting("the token was refused", tokenWaitInSeconds);
  }

  /** Throws what a call would throw where that is known without one. */
  async checkReady(): Promise<void> {
    await this.#api.check();
    this.#usableToken(await this.#secret.read());
  }

  async #attempt(call: ApiCall, version: TokenVersion): Promise<ApiAnswer> {
    try {
      return await this.#api.send(this.#usableToken(version), call);
    } catch (error) {
      // Some providers answer 403 where a token has lost its rights: the refresher tries it.
      if (isRefusedCall(error)) await this.#refusals.report(version.versionId);
      throw error;
    }
  }

  #usableToken({ token, versionId }: TokenVersion): string {
    if (token === undefined) throw waiting(noToken, tokenWaitInSeconds);
    if (this.#refusals.isEnded(versionId)) throw waiting("the token was refused", tokenWaitInSeconds);
    return token;
  }

  /** Reads a refused token again. Concurrent calls share the reading, later ones use its result. */
  async #readOther(refused: TokenVersion): Promise<TokenVersion> {
    const kept = await this.#secret.read();
    if (kept.versionId !== refused.versionId) return kept;
    this.#rereading ??= this.#secret.readAgain().finally(() => {
      this.#rereading = undefined;
    });
    return this.#rereading;
  }
}

/** How long an answer shows that the provider refuses one call alone. */
const answerCountsForMs = 5 * 60_000;
/** Maximum number of refused calls that are told apart. */
const maxRefused = 100;

/** Which calls one process saw refused since the provider last answered, and what it answered then. */
class Refusals {
  readonly #now: () => Date;
  readonly #refused = new Set<string>();
  #answered: { readonly path: string; readonly at: number } | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  answered(path: string): void {
    this.#refused.clear();
    this.#answered = { path, at: this.#now().getTime() };
  }

  /** @returns whether the call was refused before */
  refused(path: string): boolean {
    const isRepeated = this.#refused.has(path);
    if (this.#refused.size < maxRefused) this.#refused.add(path);
    return isRepeated;
  }

  /** The error, which says whether the call is refused alone. */
  judged(error: unknown, path: string): unknown {
    if (!isRefusedCall(error)) return error;
    const { path: other, at = 0 } = this.#answered ?? {};
    const isRecent = this.#now().getTime() - at <= answerCountsForMs;
    const isAlone = this.#refused.size === 1 && other !== undefined && other !== path && isRecent;
    return isAlone ? new FailureError({ ...error.failure, refused: "alone" }) : error;
  }
}

/**
 * A provider that refuses a call, for its token or for good, or has no data ready, is healthy; a failure that may pass says
 * that it is not well.
 */
function callResultOf(error: unknown): CallResult {
  const failure = error instanceof FailureError ? error.failure : undefined;
  if (failure?.type !== "retryable" || isNotReady(error)) return "healthy";
  return { pauseInSeconds: failure.delayInSeconds };
}

/** In milliseconds; undefined where something else failed than the rate. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof FailureError) || error.failure.type !== "retryable") return undefined;
  const { waitsFor, delayInSeconds } = error.failure;
  return waitsFor === "permit" ? Math.ceil(delayInSeconds * 1000) : undefined;
}
