import { createHmac } from "node:crypto";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { secretReader } from "../secrets/secret-reader.ts";

/**
 * Digests a subject with the stage's erasure key: who has no key can't tell from a digest who was erased, nor try
 * ids until one fits.
 * @returns HMAC-SHA256 in base64url
 */
export type DigestOf = (subject: Subject) => Promise<string>;

/** The key is never changed: it is read once an hour, so that a function that starts again asks once. */
const keptForInSeconds = 3_600;

export function subjectDigest(
  client: SecretsManagerClient,
  secretId: string,
  now: () => Date = () => new Date(),
): DigestOf {
  const key = secretReader(client, secretId, parseErasureKey, { now, keptFor: keptForInSeconds });
  return async (subject) =>
    createHmac("sha256", await key.read())
      .update(nameOf(subject))
      .digest("base64url");
}

/** @throws permanent failure where the secret is not as the deployment makes it */
function parseErasureKey(text: string): string {
  return textOf(fieldsOf(parseJson(text, "the erasure key"), "the erasure key"), "key");
}
