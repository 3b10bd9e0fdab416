import { partitionOf } from "../../../adapters/dynamodb/keys.ts";
import type { Subject } from "../../../domain/event/subjects.ts";

/** Ids that can be mistaken for something else: part of another, of a key, of a protocol, or of JSON. */
export const hostileIds = [
  "0f8fad5b-d9cb-469f-a165-70867728950e",
  "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
  "7",
  "42",
  "1234567890",
  "1234567890123456789",
  "u1",
  "u1/x",
  "u1#x",
  "u1.7",
  "u1%2Fx",
  "..",
  "accounts",
  "user",
  "kind",
  "income",
  "null",
  "__proto__",
  'quo"te',
  "back\\slash",
  "\u00e9t\u00e9 2026",
  "\u{1F600}",
];

/** A user with an account; all of their data contains the mark. */
export type Person = { readonly userId: string; readonly accountId: string; readonly mark: string };

/** Forms of an id in JSON: plain, in upper case, with each character escaped, or as a number. */
export function written(id: string, form: number): string {
  switch (form % 4) {
    case 1:
      return JSON.stringify(/^[0-9a-f-]{36}$/.test(id) ? id.toUpperCase() : id);
    case 2:
      return `"${id.split("").map(escaped).join("")}"`;
    case 3:
      return /^\d{1,19}$/.test(id) ? id : JSON.stringify(id);
    default:
      return JSON.stringify(id);
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export const user = ({ userId }: Person): Subject => ({ kind: "user", id: userId });
export const account = ({ accountId }: Person): Subject => ({ kind: "account", id: accountId });

/** A person's change among what the relay gave up, in the stream's format. */
export function recordOf(person: Person): string {
  const Keys = { pk: { S: partitionOf(user(person)) }, sk: { S: "EVENT#x" } };
  return JSON.stringify({ dynamodb: { Keys, NewImage: { ...Keys, mark: { S: person.mark } } } });
}
