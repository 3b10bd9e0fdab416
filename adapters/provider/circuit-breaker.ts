import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { unreachable } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import {
  type Breaker,
  type BreakerSettings,
  type CallResult,
  closed,
  paused,
  reopened,
  spreadInSeconds,
} from "../../domain/fetch/call-limits.ts";
import { isWritten, type ReadKey } from "../dynamodb/batching.ts";
import { breakerKey, itemVersion } from "../dynamodb/keys.ts";

type CircuitBreakerOptions = {
  readonly settings: BreakerSettings;
  /** Reads the state consistently. */
  readonly read: ReadKey;
  /** The longest time that a call can take; one caller probes alone for this long. */
  readonly longestCallInSeconds: number;
  readonly now: () => Date;
  readonly random: () => number;
  /** Called only by the caller that changes the state, so once across all callers. */
  readonly onStateChange: (state: "open" | "closed") => void;
};

/** How long a caller trusts the state that it has read; another caller may change it meanwhile. */
const trustedForInSeconds = 5;

/**
 * A circuit breaker that all environments of all functions share through the table. While closed, it costs each
 * environment one read every five seconds. A caller whose calls fail in a row opens it. After its time has passed,
 * one caller wins the probe, and only the probe's result closes it.
 */
export class CircuitBreaker {
  readonly #client: DynamoDBClient;
  readonly #tableName: string;
  readonly #options: CircuitBreakerOptions;
  #cached: { readonly breaker: Breaker; readonly until: number } | undefined;
  #failuresInARow = 0;
  /** Concurrent tasks of a batch share one read. */
  #loading: Promise<Breaker> | undefined;

  constructor(client: DynamoDBClient, tableName: string, options: CircuitBreakerOptions) {
    this.#client = client;
    this.#tableName = tableName;
    this.#options = options;
  }

  /**
   * Admits a call.
   * @returns reports the call's result. It never throws: state that it can't write expires by itself.
   * @throws retryable failure with the time until the provider is tried again
   */
  async admit(): Promise<(result: CallResult) => Promise<void>> {
    const { now, longestCallInSeconds } = this.#options;
    // Terminates: if this caller loses the probe, another one has changed the state that is read next.
    for (;;) {
      const breaker = this.#unlessOpen(await this.load());
      if (breaker.openUntil === 0) return this.#reporter();
      const until = now().getTime() + Math.ceil(longestCallInSeconds * 1000);
      const probe = { ...breaker, openUntil: until };
      if (await this.#write(breaker, probe)) return this.#reporter(probe);
    }
  }

  /** Throws as `admit` does if this environment knows that the breaker is open. Makes no request. */
  gate(): void {
    const trusted = this.#trusted();
    if (trusted !== undefined) this.#unlessOpen(trusted);
  }

  /** Reads the state unless it was read in the last seconds. */
  async load(): Promise<Breaker> {
    const trusted = this.#trusted();
    if (trusted !== undefined) return trusted;
    this.#loading ??= loadBreaker(this.#options.read)
      .then((breaker) => this.#cache(breaker))
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  #trusted(): Breaker | undefined {
    const { breaker, until = 0 } = this.#cached ?? {};
    return this.#options.now().getTime() < until ? breaker : undefined;
  }

  #unlessOpen(breaker: Breaker): Breaker {
    const { now, settings } = this.#options;
    const left = (breaker.openUntil - now().getTime()) / 1000;
    if (left > 0) throw unreachable("the provider is down", left, spreadInSeconds(breaker, settings));
    return breaker;
  }

  #cache(breaker: Breaker): Breaker {
    const { now, settings } = this.#options;
    const trust = Math.min(trustedForInSeconds, settings.baseSeconds) * 1000;
    this.#cached = { breaker, until: now().getTime() + trust };
    return breaker;
  }

  /** @returns false if the state has changed since it was read */
  async #write(seen: Breaker, next: Breaker): Promise<boolean> {
    const isReplaced = await isWritten(
      this.#client.send(
        new UpdateItemCommand({
          TableName: this.#tableName,
          Key: marshall(breakerKey),
          UpdateExpression: "SET openUntil = :openUntil, opened = :opened, schemaVersion = :version",
          ConditionExpression: `openUntil = :seen${seen.openUntil === 0 ? " OR attribute_not_exists(openUntil)" : ""}`,
          ExpressionAttributeValues: marshall({
            ":openUntil": next.openUntil,
            ":opened": next.opened,
            ":seen": seen.openUntil,
            ":version": itemVersion,
          }),
        }),
      ),
    );
    if (isReplaced) this.#cache(next);
    else this.#cached = undefined;
    return isReplaced;
  }

  #reporter(probe?: Breaker): (result: CallResult) => Promise<void> {
    const record = async (result: CallResult) => {
      if (result === "healthy") await this.#healthy(probe);
      else await this.#failed(probe ?? (await this.load()), probe !== undefined, result);
    };
    // A failed report must not fail the call: a probe's lease expires, and the next failure opens the breaker.
    return (result) => record(result).catch(() => undefined);
  }

  async #healthy(probe: Breaker | undefined): Promise<void> {
    this.#failuresInARow = 0;
    if (probe === undefined) return;
    const isChanged = await this.#write(probe, closed);
    if (isChanged && probe.opened > 0) this.#options.onStateChange("closed");
  }

  async #failed(
    seen: Breaker,
    isProbe: boolean,
    { pauseInSeconds, isRepeated }: Exclude<CallResult, "healthy">,
  ): Promise<void> {
    const { settings, now, random, onStateChange } = this.#options;
    if (isRepeated !== true) this.#failuresInARow += 1;
    if (pauseInSeconds > 0) {
      const next = paused(seen, now(), pauseInSeconds);
      if (isProbe || next.openUntil > seen.openUntil) await this.#write(seen, next);
    } else if (isProbe || (seen.openUntil === 0 && this.#failuresInARow >= settings.failures)) {
      this.#failuresInARow = 0;
      const isChanged = await this.#write(seen, reopened(seen, now(), settings, random()));
      if (isChanged) onStateChange("open");
    }
  }
}

export async function loadBreaker(read: ReadKey): Promise<Breaker> {
  const fields = await read(breakerKey);
  if (fields === undefined) return closed;
  return { openUntil: numberOf(fields, "openUntil"), opened: numberOf(fields, "opened") };
}
