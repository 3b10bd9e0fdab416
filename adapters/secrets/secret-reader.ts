import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

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
