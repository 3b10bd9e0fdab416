import { type Fields, fieldsOf, textsOf } from "../core/parse.ts";
import { eventTypes } from "../event/events.ts";
import { answerTypes } from "../message/message-types.ts";
import { parseSubscribers, type Subscriber, wants } from "../message/subscribers.ts";
import type { ReadRequest } from "./route.ts";

/**
 * Who reads: an ARN as IAM gives it of a signature, for example of a role's session; or whoever may invoke the alias of a
 * subscriber, which policies decide.
 */
export type Caller =
  | { readonly accountId: string; readonly userArn: string }
  | { readonly subscriber: string };

/** A subscriber, and who reads for it. */
export type ReadingSubscriber = Subscriber & {
  /** Accounts, roles and users that the settings name; none: all of the stage's account that are named nowhere. */
  readonly principals: readonly string[];
  /** ARNs of roles and users of the stage's account that read by a grant. */
  readonly granted: readonly string[];
};

/**
 * Whether a caller may read what is asked for: what one of the subscribers that name it gets messages of.
 * @param ownAccount the stage's, whose roles read for the subscribers without principals where none names them
 */
export function mayRead(
  caller: Caller,
  request: ReadRequest,
  subscribers: readonly ReadingSubscriber[],
  ownAccount: string,
): boolean {
  if ("subscriber" in caller)
    return subscribers.some((each) => each.name === caller.subscriber && gets(each, request));
  const named = subscribers.filter(({ principals, granted }) =>
    [...principals, ...granted].some((each) => isPrincipal(each, caller)),
  );
  const isOwn = named.length === 0 && caller.accountId === ownAccount;
  const acting = isOwn ? subscribers.filter(({ principals }) => principals.length === 0) : named;
  return acting.some((subscriber) => gets(subscriber, request));
}

/** Whether a caller that may read a state may read which documents there are as well. */
export function documentsOf(request: ReadRequest): ReadRequest | undefined {
  if (request.type !== "state") return undefined;
  return { type: "document", subject: request.subject, name: { endpoint: "" }, wanted: {} };
}

const stateTypes = [...eventTypes, ...answerTypes];

function gets(subscriber: Subscriber, request: ReadRequest): boolean {
  if (request.type === "document" || request.type === "versions") return wants(subscriber, "data.updated");
  const kind = request.type === "accounts" ? "account" : request.subject.kind;
  return stateTypes.some((type) => type.startsWith(`${kind}.`) && wants(subscriber, type));
}

/** @param principal an account's digits, or the ARN of an account, a role or a user, as in the settings */
function isPrincipal(
  principal: string,
  { accountId, userArn }: Exclude<Caller, { subscriber: string }>,
): boolean {
  if (/^\d{12}$/.test(principal)) return principal === accountId;
  const [, , , , account = "", resource = ""] = principal.split(":");
  if (resource === "root") return account === accountId;
  // A session of a role is named without the role's path; an account has each name once.
  const role = resource.startsWith("role/") ? resource.split("/").at(-1) : undefined;
  return role === undefined ? principal === userArn : userArn.startsWith(sessionOf(principal, account, role));
}

function sessionOf(principal: string, account: string, role: string): string {
  const [, partition = "aws"] = principal.split(":");
  return `arn:${partition}:sts::${account}:assumed-role/${role}/`;
}

/** A caller as logs name it: a role without its session. */
export function principalOf(caller: Caller): string {
  if ("subscriber" in caller) return `subscriber/${caller.subscriber}`;
  return caller.userArn.replace(/^(arn:[^:]+:sts::\d+:assumed-role\/[^/]+)\/.*$/, "$1");
}

/**
 * @param grants ARNs by the name of the subscriber that each reads for
 * @throws permanent failure naming the setting
 */
export function parseReadingSubscribers(value: unknown, grants: Fields): readonly ReadingSubscriber[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return parseSubscribers(value).map((subscriber, index) => {
    const principals = textsOf(fieldsOf(entries[index], "subscribers"), "principals");
    const { name } = subscriber;
    return { ...subscriber, principals, granted: Object.hasOwn(grants, name) ? textsOf(grants, name) : [] };
  });
}
