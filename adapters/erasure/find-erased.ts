import { createHmac } from "node:crypto";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { unerasedSeconds } from "../../domain/recovery/erasure.ts";
import type { ReadKey } from "../dynamodb/batching.ts";
import { tombstoneKey } from "../dynamodb/keys.ts";
import { secretReader } from "../secrets/secret-reader.ts";

/** The key never changes, so one read an hour is enough. */
const cacheSeconds = 3_600;

/**
 * Digests a subject with the stage's erasure key. Without the key, nobody can tell from a digest who was erased, nor
 * find out by trying ids.
 * @returns a function that returns HMAC-SHA256 in base64url
 */
export function subjectDigest(
  client: SecretsManagerClient,
  secretId: string,
  now: () => Date = () => new Date(),
): (subject: Subject) => Promise<string> {
  const key = secretReader(client, secretId, parseErasureKey, { now, keptFor: cacheSeconds });
  return async (subject) =>
    createHmac("sha256", await key.read())
      .update(nameOf(subject))
      .digest("base64url");
}

/** @throws permanent failure if the secret is not as the deployment creates it */
function parseErasureKey(text: string): string {
  return textOf(fieldsOf(parseJson(text, "the erasure key"), "the erasure key"), "key");
}

/** At least one of these always advances. The first may be set back; the second stops while Lambda freezes the process. */
const processClocks = [() => Date.now(), () => performance.now()];

/**
 * Finds which of some subjects are erased, by name, with one consistent read for all that were not read in the last
 * seconds (`unerasedSeconds`).
 */
export type FindErased = (subjects: readonly Subject[]) => Promise<ReadonlySet<string>>;

/** @param seconds how long a read is remembered, by all of the clocks */
export function findErased(
  read: ReadKey,
  digestOf: ReturnType<typeof subjectDigest>,
  {
    clocks = processClocks,
    seconds = unerasedSeconds,
  }: { readonly clocks?: readonly (() => number)[]; readonly seconds?: number } = {},
): FindErased {
  const unerased = new Map<string, readonly number[]>();
  return async (subjects) => {
    // Before the read, which may miss a tombstone that is placed meanwhile.
    const readAt = clocks.map((clock) => clock());
    const isRecent = (earlier: readonly number[]) =>
      readAt.every((time, index) => time - (earlier[index] ?? 0) < seconds * 1_000);
    for (const [name, earlier] of unerased) if (!isRecent(earlier)) unerased.delete(name);
    const named = new Map(
      subjects.map((subject) => [nameOf(subject), subject] as const).filter(([name]) => !unerased.has(name)),
    );
    // Throws if DynamoDB does not answer for all: whether a subject is erased must not be guessed.
    const reads = [...named].map(async ([name, subject]) => {
      const tombstone = await read(tombstoneKey(await digestOf(subject)));
      if (tombstone !== undefined) return [name];
      unerased.set(name, readAt);
      return [];
    });
    return new Set((await Promise.all(reads)).flat());
  };
}
