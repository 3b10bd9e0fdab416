import { keyPart } from "../core/escaping.ts";
import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";
import { type EventAttributes, subjectKindOf } from "./events.ts";

/** The user or account whose state an event changes. */
export type Subject = { readonly kind: "user" | "account" | "company-account"; readonly id: string };

/** The unique name of a subject in messages, objects and logs, such as `account/<id>`. */
export function nameOf(subject: Subject): string {
  return `${subject.kind}/${keyPart(subject.id)}`;
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
