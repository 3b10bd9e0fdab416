import { partitionOf, subjectOfPartition } from "../../../adapters/dynamodb/keys.ts";
import { keyPart } from "../../../domain/core/key-part.ts";
import { canonicalId } from "../../../domain/event/canonical-id.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { mentions } from "../../../domain/recovery/mentions.ts";
import { must, type Target } from "../target.ts";
import { splitAtEmptyLine } from "./split.ts";

/** What it looks into; a test puts broken ones in their place. */
const sound = { keyPart, canonicalId, mentions, partitionOf };

/** An id, and a text that may name it, after the first empty line. */
function check({ keyPart, canonicalId, mentions, partitionOf }: typeof sound, input: Uint8Array): void {
  const { head: id, rest } = splitAtEmptyLine(input);
  const text = Buffer.from(rest).toString("utf8");
  if (id === "" || !id.isWellFormed()) return;
  must(decodeURIComponent(keyPart(id)) === id, "a part of a key gives another id back");
  must(!/[/#]/.test(keyPart(id)), "a part of a key holds what joins it");
  must(canonicalId(canonicalId(id)) === canonicalId(id), "a canonical id has another one");
  const user: Subject = { kind: "user", id };
  const account: Subject = { kind: "account", id };
  must(subjectOfPartition(partitionOf(user))?.id === id, "a partition is another's");
  must(nameOf(user) !== nameOf(account), "a user and an account have the same name");
  mentions([user, account])(text, "accounts");
  const named = JSON.stringify({ subject: user, note: text });
  must(mentions([user])(named), "a task that names a user is not found");
  must(
    mentions([user])(JSON.stringify({ subject: nameOf(user) })),
    "a message that names a user is not found",
  );
  must(
    mentions([user], (each) => [partitionOf(each)])(JSON.stringify({ pk: { S: partitionOf(user) } })),
    "a record is not found",
  );
  must(!mentions([account])(JSON.stringify({ subject: user })), "an account is found where a user is named");
}

/** @param broken what is wrong on purpose */
export function lookUpTarget(broken: Partial<typeof sound> = {}): Target {
  return { ...described, check: (input) => check({ ...sound, ...broken }, input) };
}

const described = {
  promise:
    "whoever is named by our own texts is found by an erasure, and nobody else of the same id; keys are injective",
  seeds: [
    'u1/x\n\n{"user_id":"u1"}',
    "0f8fad5b-d9cb-469f-a165-70867728950e\n\nuser_id=0F8FAD5B-D9CB-469F-A165-70867728950E",
    '1234567890123456789\n\n{"account_id":1234567890123456789}',
    "accounts\n\n/accounts/accounts",
  ],
  words: ["%2F", "#", "..", "__proto__", "user/", "\\u0037", '"id":'],
};

export const target: Target = lookUpTarget();
