import { setTimeout as sleepFor } from "node:timers/promises";
import { FailureError, isNotReady, isRefusedCall, waiting } from "../../domain/core/failures.ts";
import { type ApiAnswer, Unauthorized } from "../../domain/fetch/answer.ts";
import type { CallResult } from "../../domain/fetch/call-limits.ts";
import type { TokenVersion } from "../../domain/fetch/token.ts";
import type { SecretReader } from "../secrets/secret-reader.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { ApiCall, ProviderApi } from "./provider-api.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { TokenRefusals } from "./token-refusals.ts";

/** The reason of a call that waits for an operator to set the token. */
export const noToken = "no token is set";

/** How long a task waits for a token that is missing or was refused twice. */
const tokenWaitInSeconds = 60;

export type GuardedApiOptions = {
  readonly api: Pick<ProviderApi, "send">;
  readonly limiter: Pick<RateLimiter, "permit" | "gate">;
  /** Absent for calls that keep the token alive: their path may answer while data paths fail. */
  readonly breaker?: Pick<CircuitBreaker, "admit" | "gate" | "load"> | undefined;
  /** How long a call waits for the rate limit before it fails; 0 if its task can wait better. */
  readonly patienceInSeconds: number;
  readonly now: () => Date;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
};

/**
 * Guards each call to the provider, retries included: the circuit breaker admits it, the rate limiter permits it, and
 * the breaker gets its result. A run of refusals of different calls counts like an outage.
 */
export class GuardedApi {
  readonly #options: GuardedApiOptions;
  readonly #refusals: Refusals;

  constructor(options: GuardedApiOptions) {
    this.#options = options;
    this.#refusals = new Refusals(options.now);
  }

  /** @throws as `ProviderApi.send` does; retryable failure while the breaker is open or the rate is used up */
  async send(token: string, call: ApiCall): Promise<ApiAnswer> {
    const { api, breaker } = this.#options;
    const report = await breaker?.admit();
    const ended = await this.#permit(call.serviceTime);
    const begunAt = this.#options.now().getTime();
    try {
      const answer = await api.send(token, call);
      this.#refusals.answered(call.path, begunAt);
      await report?.("healthy");
      return answer;
    } catch (error) {
      if (isNotReady(error)) this.#refusals.answered(call.path, begunAt);
      const isRepeated = isRefusedCall(error) && this.#refusals.refused(call.path);
      await report?.(isRepeated ? { pauseInSeconds: 0, isRepeated } : callResultOf(error));
      throw this.#refusals.judged(error, call.path, token);
    } finally {
      ended?.();
    }
  }

  /** Throws as `send` does if the breaker is known to be open, or the rate to be used up. Makes no request. */
  gate(): void {
    this.#options.breaker?.gate();
    this.#options.limiter.gate();
  }

  /** Reads ahead what `send` needs from the table. */
  async prepare(): Promise<void> {
    await this.#options.breaker?.load();
  }

  /** Retries at the start of each rate window, until the patience ends. */
  async #permit(serviceTime: number | undefined): Promise<(() => void) | undefined> {
    const { limiter, patienceInSeconds, now, sleep = sleepFor } = this.#options;
    const end = now().getTime() + patienceInSeconds * 1000;
    for (;;) {
      try {
        return await limiter.permit(serviceTime);
      } catch (error) {
        const wait = waitOf(error);
        if (wait === undefined || now().getTime() + wait >= end) throw error;
        await sleep(wait);
      }
    }
  }
}

/** Calls the provider with the current token. If the token is refused, reads it again and retries once. */
export class ProviderClient {
  readonly #api: Pick<GuardedApi, "send" | "gate" | "prepare">;
  readonly #secret: SecretReader<TokenVersion>;
  readonly #refusals: Pick<TokenRefusals, "isEnded" | "report">;
  #last: TokenVersion | undefined;
  #rereading: Promise<TokenVersion> | undefined;

  constructor(
    api: Pick<GuardedApi, "send" | "gate" | "prepare">,
    secret: SecretReader<TokenVersion>,
    refusals: Pick<TokenRefusals, "isEnded" | "report">,
  ) {
    this.#api = api;
    this.#secret = secret;
    this.#refusals = refusals;
  }

  /**
   * @throws as `GuardedApi.send` does, and a waiting failure while the provider refuses the token. A second 401 fails
   * only this call; it is reported, so that the token is refreshed. If the provider accepts the token for other calls,
   * it refuses this call alone, as with 403.
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
      await this.#refusals.report(second.versionId);
      throw refusedToken(error);
    }
  }

  /** Throws as `call` would, if that is known without a request. */
  gate(): void {
    this.#api.gate();
    if (this.#last?.token !== undefined) this.#usableToken(this.#last);
  }

  /** Reads what `call` needs, beside other reads of the caller. A failure is left to `call`. */
  async prepare(): Promise<void> {
    await Promise.allSettled([this.#api.prepare(), this.#secret.read()]);
  }

  async #attempt(call: ApiCall, version: TokenVersion): Promise<ApiAnswer> {
    this.#last = version;
    try {
      return await this.#api.send(this.#usableToken(version), call);
    } catch (error) {
      // Some providers answer 403 when a token has lost its rights; the refresher checks it.
      if (isRefusedCall(error)) await this.#refusals.report(version.versionId);
      throw error;
    }
  }

  #usableToken({ token, versionId }: TokenVersion): string {
    if (token === undefined) throw waiting(noToken, tokenWaitInSeconds);
    if (this.#refusals.isEnded(versionId)) throw waiting(tokenRefused, tokenWaitInSeconds);
    return token;
  }

  /** Reads a refused token again. Concurrent calls share one read; later calls use its result. */
  async #readOther(refused: TokenVersion): Promise<TokenVersion> {
    const cached = await this.#secret.read();
    if (cached.versionId !== refused.versionId) return cached;
    this.#rereading ??= this.#secret.readAgain().finally(() => {
      this.#rereading = undefined;
    });
    return this.#rereading;
  }
}

const tokenRefused = "the token was refused";

function refusedToken({ isAlone }: Unauthorized): FailureError {
  const wait = { type: "retryable", delayInSeconds: tokenWaitInSeconds } as const;
  if (isAlone) return new FailureError({ ...wait, reason: "the provider answered 401", refused: "alone" });
  const spread = { spreadInSeconds: tokenWaitInSeconds, waitsFor: "permit" } as const;
  return new FailureError({ ...wait, ...spread, reason: tokenRefused, refused: "unknown" });
}

/** How long an answer to one call proves that the refusal of another concerns that call alone. */
const answerCountsForMs = 5 * 60_000;
/** Maximum number of refused calls to track. */
const maxRefused = 100;

/** The calls that the provider has refused since its last answer, and that answer, as one process saw them. */
class Refusals {
  readonly #now: () => Date;
  readonly #refused = new Set<string>();
  /** When a token was first refused for a call that was not answered since. */
  readonly #unauthorized = new Map<string, { readonly token: string; readonly at: number }>();
  #answered: { readonly path: string; readonly at: number } | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @param begunAt when the call began, in milliseconds since 1970 */
  answered(path: string, begunAt: number): void {
    this.#refused.clear();
    this.#unauthorized.delete(path);
    this.#answered = { path, at: begunAt };
  }

  /** @returns whether the call was refused before */
  refused(path: string): boolean {
    const isRepeated = this.#refused.has(path);
    if (this.#refused.size < maxRefused) this.#refused.add(path);
    return isRepeated;
  }

  /** Returns the error, marked if the provider refuses this call alone. */
  judged(error: unknown, path: string, token: string): unknown {
    const isUnauthorized = error instanceof Unauthorized;
    if (!isUnauthorized && !isRefusedCall(error)) return error;
    if (isUnauthorized) this.refused(path);
    const { path: other, at = 0 } = this.#answered ?? {};
    const isRecent = this.#now().getTime() - at <= answerCountsForMs;
    const isAlone = this.#refused.size === 1 && other !== undefined && other !== path && isRecent;
    if (!isUnauthorized) return isAlone ? new FailureError({ ...error.failure, refused: "alone" }) : error;
    // A token can end between two calls: the other must have begun after the first refusal.
    const first = this.#firstRefusal(path, token);
    return isAlone && at > first ? new Unauthorized(true) : error;
  }

  #firstRefusal(path: string, token: string): number {
    const first = this.#unauthorized.get(path);
    if (first?.token === token) return first.at;
    const at = this.#now().getTime();
    if (first !== undefined || this.#unauthorized.size < maxRefused)
      this.#unauthorized.set(path, { token, at });
    return at;
  }
}

/**
 * Only a retryable failure counts against the provider. If it refuses a call or a token, or has no data ready, it is
 * healthy.
 */
function callResultOf(error: unknown): CallResult {
  const failure = error instanceof FailureError ? error.failure : undefined;
  if (failure?.type !== "retryable" || isNotReady(error)) return "healthy";
  return { pauseInSeconds: failure.delayInSeconds };
}

/** The time to wait in milliseconds; undefined if anything but the rate limit failed. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof FailureError) || error.failure.type !== "retryable") return undefined;
  const { waitsFor, delayInSeconds } = error.failure;
  return waitsFor === "permit" ? Math.ceil(delayInSeconds * 1000) : undefined;
}
