import { hash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";
import { type EventAttributes, subjectKindOf } from "./events.ts";

/** Escapes a text for a regular expression. Node 22, which commands support, lacks `RegExp.escape`. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Characters that separate or escape key parts, and the path segments `.` and `..`. */
const reserved = /[%/#]|^\.{1,2}$/g;

/**
 * Encodes an id or name as one part of a key, or of a message's subject, with the separators `/` or `#`. Only
 * `%`, `/`, `#` and the parts `.` and `..` are percent-encoded. The result is unique and contains no
 * separator, and `decodeURIComponent` restores the text.
 */
export function keyPart(text: string): string {
  return text.replace(reserved, percentEncoded);
}

function percentEncoded(characters: string): string {
  return Array.from(characters, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`).join("");
}

/** The user or account whose state an event changes. */
export type Subject = { readonly kind: "user" | "account" | "company-account"; readonly id: string };

/** The unique name of a subject in messages, objects and logs, such as `account/<id>`. */
export function nameOf(subject: Subject): string {
  return `${subject.kind}/${keyPart(subject.id)}`;
}

/** The subject of a record, and its user, if known. */
export function withUser({
  subject,
  userId,
}: {
  readonly subject: Subject;
  readonly userId?: string | undefined;
}): readonly Subject[] {
  return userId === undefined ? [subject] : [subject, { kind: "user", id: userId }];
}

/** @throws permanent failure if the attributes name no subject; the mapping rejects such a body earlier */
export function subjectOf(facts: EventAttributes): Subject {
  const { userId, accountId, companyAccountId } = facts;
  switch (subjectKindOf(facts.type)) {
    case "user":
      return subject("user", userId);
    case "account":
      return subject("account", accountId);
    case "company-account":
      return subject("company-account", companyAccountId);
    case "endpoint":
      return accountId === undefined
        ? subject("company-account", companyAccountId)
        : subject("account", accountId);
  }
}

/**
 * The subject whose partition stores an event: the user, else the account, else the company account. It
 * depends on the message alone, so a retry finds the first receipt and items never move.
 */
export function ownerOf(facts: EventAttributes): Subject {
  if (facts.userId !== undefined) return { kind: "user", id: facts.userId };
  if (facts.accountId !== undefined) return { kind: "account", id: facts.accountId };
  return subject("company-account", facts.companyAccountId);
}

/** @throws permanent failure naming the field */
export function parseSubject(value: unknown): Subject {
  const fields = fieldsOf(value, "subject");
  const { kind } = fields;
  if (kind !== "user" && kind !== "account" && kind !== "company-account") {
    throw permanent("subject.kind: expected user, account or company-account");
  }
  return { kind, id: textOf(fields, "id") };
}

function subject(kind: Subject["kind"], id: string | undefined): Subject {
  if (id === undefined) throw permanent(`${kind}: the event names none`);
  return { kind, id };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(id: string): boolean {
  return uuid.test(id);
}

/** An id in the form that events, keys and digests use: UUIDs in lower case, because case does not matter. */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

/** Hexadecimal digits of a digest: short, and two of 100 million ids share one with a probability of 0.03 %. */
const digits = 16;

/** The table's index of subjects by `loggedName`. Only states have the attribute. */
export const loggedNameIndex = { name: "LoggedNames", attribute: "loggedAs" } as const;

/**
 * The name of a subject in logs: `account/<digest>`. Lines can't be erased, so they contain no id. The table has an
 * index by this name.
 */
export function loggedName({ kind, id }: Subject): string {
  return `${kind}/${digestOf(keyPart(id))}`;
}

/** The text that logs have in place of an id, or of a subject's name such as `account/<id>/income`. */
export function loggedText(text: string): string {
  const [, kind, id] = /^(user|account|company-account)\/([^/]+)/.exec(text) ?? [];
  return kind === undefined || id === undefined
    ? digestOf(keyPart(canonicalId(text)))
    : `${kind}/${digestOf(canonicalId(id))}`;
}

/** The beginning of the SHA-256 digest of an id. */
function digestOf(id: string): string {
  return hash("sha256", id).slice(0, digits);
}
