import { GetSecretValueCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

/** Reads one secret and keeps what it says for a while, so that a busy function asks once a minute. */
export type SecretReader<T> = {
  readonly read: () => Promise<T>;
  /** Reads again now, whatever is kept: what was kept turned out to be wrong. */
  readonly readAgain: () => Promise<T>;
};

/** How long a value is kept by default. */
export const keptForInSeconds = 60;

/**
 * @param parse reads the secret's string, with the id of its version; what it throws reaches the caller, and nothing is
 * kept
 * @param now the clock, for the age of what is kept
 * @param keptFor how long a value is kept, in seconds
 */
export function secretReader<T>(
  client: SecretsManagerClient,
  secretId: string,
  parse: (text: string, versionId: string) => T,
  { now, keptFor = keptForInSeconds }: { readonly now: () => Date; readonly keptFor?: number },
): SecretReader<T> {
  let kept: { readonly value: Promise<T>; readonly since: number } | undefined;

  const fetchValue = async () => {
    const { SecretString = "{}", VersionId = "" } = await client.send(
      new GetSecretValueCommand({ SecretId: secretId }),
    );
    return parse(SecretString, VersionId);
  };
  const readAgain = () => {
    const value = fetchValue();
    const entry = { value, since: now().getTime() };
    kept = entry;
    // A failure is not kept; callers who wait for this very read see it.
    value.catch(() => {
      if (kept === entry) kept = undefined;
    });
    return value;
  };
  return {
    read: () => {
      const isFresh = kept !== undefined && now().getTime() - kept.since < keptFor * 1000;
      return isFresh && kept !== undefined ? kept.value : readAgain();
    },
    readAgain,
  };
}
