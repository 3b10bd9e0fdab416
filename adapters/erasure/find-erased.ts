import { createHmac } from "node:crypto";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { ReadKey } from "../dynamodb/batching.ts";
import { tombstoneKey } from "../dynamodb/keys.ts";
import { secretReader } from "../secrets/secret-reader.ts";

/**
 * Digests a subject with the stage's erasure key. Without the key, nobody can tell from a digest who was erased, nor
 * find out by trying ids.
 * @returns HMAC-SHA256 in base64url
 */
export type DigestOf = (subject: Subject) => Promise<string>;

/** The key never changes, so one read an hour is enough. */
const cacheSeconds = 3_600;

export function subjectDigest(
  client: SecretsManagerClient,
  secretId: string,
  now: () => Date = () => new Date(),
): DigestOf {
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

/** Finds which of some subjects are erased, by name, with one consistent read for all of them. */
export type FindErased = (subjects: readonly Subject[]) => Promise<ReadonlySet<string>>;

export function findErased(read: ReadKey, digestOf: DigestOf): FindErased {
  return async (subjects) => {
    const named = new Map(subjects.map((subject) => [nameOf(subject), subject]));
    // Throws if DynamoDB does not answer for all: whether a subject is erased must not be guessed.
    const reads = [...named].map(async ([name, subject]) => {
      const tombstone = await read(tombstoneKey(await digestOf(subject)));
      return tombstone === undefined ? [] : [name];
    });
    return new Set((await Promise.all(reads)).flat());
  };
}
