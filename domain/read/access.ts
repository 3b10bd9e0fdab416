import { type Fields, fieldsOf, textsOf } from "../core/parse.ts";
import { answerTypes, eventTypes } from "../event/events.ts";
import { parseSubscribers, type Subscriber, wants } from "../message/message.ts";
import type { ReadRequest } from "./route.ts";

/**
 * A caller: the ARN that IAM reports for a signature, such as a role's session, or the subscriber whose alias
 * was invoked. Policies decide who may invoke the alias.
 */
export type Caller =
  | { readonly accountId: string; readonly userArn: string }
  | { readonly subscriber: string };

/** A subscriber and the principals that read for it. */
export type ReadingSubscriber = Subscriber & {
  /**
   * Accounts, roles and users from the settings. If empty, every principal of the stage's account that no
   * subscriber names.
   */
  readonly principals: readonly string[];
  /** ARNs of roles and users in the stage's account that have a grant. */
  readonly granted: readonly string[];
};

/**
 * Whether a caller may make a request: one of its subscribers receives messages about the data.
 * @param ownAccount the stage's account; its roles that no subscriber names read for subscribers without
 * principals
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

/** The request that decides whether a caller that may read a state may also list its documents. */
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

/** @param principal an account id, or the ARN of an account, role or user, as in the settings */
function isPrincipal(
  principal: string,
  { accountId, userArn }: Exclude<Caller, { subscriber: string }>,
): boolean {
  if (/^\d{12}$/.test(principal)) return principal === accountId;
  const [, , , , account = "", resource = ""] = principal.split(":");
  if (resource === "root") return account === accountId;
  // A role's session ARN omits the role's path; role names are unique within an account.
  const role = resource.startsWith("role/") ? resource.split("/").at(-1) : undefined;
  return role === undefined ? principal === userArn : userArn.startsWith(sessionOf(principal, account, role));
}

function sessionOf(principal: string, account: string, role: string): string {
  const [, partition = "aws"] = principal.split(":");
  return `arn:${partition}:sts::${account}:assumed-role/${role}/`;
}

/** A caller's name in logs: a role without its session. */
export function principalOf(caller: Caller): string {
  if ("subscriber" in caller) return `subscriber/${caller.subscriber}`;
  return caller.userArn.replace(/^(arn:[^:]+:sts::\d+:assumed-role\/[^/]+)\/.*$/, "$1");
}

/**
 * @param grants ARNs by subscriber name
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
