import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { isRefusal } from "../aws/client.ts";

/** Reads one secret and caches its value, so that a busy function reads it once a minute. */
export type SecretReader<T> = {
  readonly read: () => Promise<T>;
  /** Reads the secret now and replaces the cached value, which turned out to be wrong. */
  readonly readAgain: () => Promise<T>;
};

/** How long a value is cached by default. */
export const keptForInSeconds = 60;

/**
 * @param parse parses the secret's string, with the id of its version; its errors reach the caller and are not cached
 * @param now the clock, for the age of the cached value
 * @param keptFor how long a value is cached, in seconds
 */
export function secretReader<T>(
  client: SecretsManagerClient,
  secretId: string,
  parse: (text: string, versionId: string) => T,
  { now, keptFor = keptForInSeconds }: { readonly now: () => Date; readonly keptFor?: number },
): SecretReader<T> {
  let cached: { readonly value: Promise<T>; readonly since: number } | undefined;

  const fetchValue = async () => {
    const { SecretString = "{}", VersionId = "" } = await client.send(
      new GetSecretValueCommand({ SecretId: secretId }),
    );
    return parse(SecretString, VersionId);
  };
  const readAgain = () => {
    const value = fetchValue();
    const entry = { value, since: now().getTime() };
    cached = entry;
    // A failure is not cached; only callers that share this read get it.
    value.catch(() => {
      if (cached === entry) cached = undefined;
    });
    return value;
  };
  return {
    read: () => {
      const isFresh = cached !== undefined && now().getTime() - cached.since < keptFor * 1000;
      return isFresh && cached !== undefined ? cached.value : readAgain();
    },
    readAgain,
  };
}

/** Client settings for a secret that has a fallback. Short, since the function's caller is waiting. */
export const briefRequests = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_500, throwOnRequestTimeout: true },
};

/** How long the last value is used by default. */
const servesForInSeconds = 900;
/** How soon an unavailable service is retried: not by each caller, which would wait for it. */
const asksAgainInSeconds = 10;

/**
 * Reads as `read` does. While AWS is unavailable, returns the last value for up to 15 minutes. A refusal (no such
 * secret, no permission, invalid content) discards that value at once.
 * @param onFallback called for each failed read, when the last value is returned instead
 */
export function lastKnown<T>(
  read: () => Promise<T>,
  { now, onFallback }: { readonly now: () => Date; readonly onFallback: (error: Error) => void },
): () => Promise<T> {
  let cached: { readonly value: T; readonly until: number } | undefined;
  let askAgainAt = 0;
  return async () => {
    const time = now().getTime();
    if (cached !== undefined && time < Math.min(askAgainAt, cached.until)) return cached.value;
    try {
      const value = await read();
      cached = { value, until: time + servesForInSeconds * 1000 };
      return value;
    } catch (error) {
      if (isRefusal(error)) cached = undefined;
      if (cached === undefined || time >= cached.until || !(error instanceof Error)) throw error;
      askAgainAt = time + asksAgainInSeconds * 1000;
      onFallback(error);
      return cached.value;
    }
  };
}
