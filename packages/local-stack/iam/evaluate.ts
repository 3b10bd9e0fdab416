import type { Condition, Policy, PrincipalPattern, Statement } from "./policy.ts";
import { wildcardPattern } from "./policy.ts";

/** May `principal` (an ARN, or a service such as `events.amazonaws.com`) do this? */
export type AccessRequest = {
  readonly principal: string;
  /** For example `sqs:SendMessage`. */
  readonly action: string;
  /** An ARN, or `*` for actions without a resource. */
  readonly resource: string;
  readonly context: RequestContext;
};

/**
 * Facts of a request by condition key, for example `{"aws:SecureTransport": "true"}`; multivalued keys have a
 * list.
 */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

export type Decision = {
  readonly allowed: boolean;
  readonly reason: string;
  /** Every statement that allows the request; absent if it is denied. */
  readonly allowing?: readonly Statement[];
};

/**
 * Evaluates policies as IAM does: an explicit deny wins; within one account one allow from either side
 * suffices; across accounts both sides must allow.
 * Source: IAM user guide, "Policy evaluation logic", single account and cross-account.
 * @param identity policies of the caller; empty for services
 * @param resource policy of the resource, if it has one
 */
export function decide(
  request: AccessRequest,
  identity: readonly Policy[],
  resource: Policy | undefined,
): Decision {
  const ofCaller = identity
    .flatMap((policy) => policy.statements)
    .filter((statement) => covers(statement, request));
  const ofResource = (resource?.statements ?? []).filter(
    (statement) => covers(statement, request) && namesPrincipal(statement, request.principal),
  );
  const denial = [...ofCaller, ...ofResource].find((statement) => statement.effect === "Deny");
  if (denial !== undefined) return { allowed: false, reason: `explicit deny in ${denial.place}` };
  const sides = isForeign(request)
    ? [ofCaller, ofResource]
    : [[...ofCaller, ...ofResource.filter((statement) => grantsDirectly(statement, request))]];
  const allowing = sides.map((statements) => statements.filter(({ effect }) => effect === "Allow"));
  const permission = allowing.every((some) => some.length > 0) ? allowing.at(-1)?.[0] : undefined;
  return permission === undefined
    ? { allowed: false, reason: `no policy allows the ${request.action} action` }
    : { allowed: true, reason: `allowed by ${permission.place}`, allowing: allowing.flat() };
}

/**
 * Whether the caller is in a different account from the resource. Services and bucket ARNs have no account.
 */
function isForeign({ principal, resource }: AccessRequest): boolean {
  const [caller = "", owner = ""] = [principal, resource].map((arn) => arn.split(":")[4]);
  return caller !== "" && owner !== "" && caller !== owner;
}

function covers(statement: Statement, request: AccessRequest): boolean {
  return (
    statement.actions.some((pattern) => pattern.test(request.action)) &&
    (statement.resources?.some((pattern) => pattern.test(request.resource)) ?? true) &&
    statement.conditions.every((condition) => holds(condition, request.context))
  );
}

function namesPrincipal(statement: Statement, principal: string): boolean {
  return statement.principals?.some((pattern) => matchesPrincipal(pattern, principal)) ?? false;
}

/** A trap: an account as principal delegates to its administrators and grants nothing to a role directly. */
function grantsDirectly(statement: Statement, request: AccessRequest): boolean {
  return (
    statement.principals?.some(
      (pattern) => pattern.kind !== "account" && matchesPrincipal(pattern, request.principal),
    ) ?? false
  );
}

function matchesPrincipal(pattern: PrincipalPattern, principal: string): boolean {
  switch (pattern.kind) {
    case "anyone":
      return true;
    case "service":
      return pattern.name === principal;
    case "account":
      return principal.split(":")[4] === pattern.account;
    case "arn":
      return pattern.arn === principal;
  }
}

function holds(condition: Condition, context: RequestContext): boolean {
  const actual = context[condition.key];
  if (actual === undefined) return condition.holdsWithout;
  return [actual].flat().every((value) => matches(condition, value));
}

function matches(condition: Condition, actual: string): boolean {
  switch (condition.operator) {
    case "Bool":
      return condition.values.some((value) => value.toLowerCase() === actual.toLowerCase());
    case "StringEquals":
      return condition.values.includes(actual);
    case "StringLike":
      return condition.values.some((value) => wildcardPattern(value).test(actual));
    case "ArnLike":
      return condition.values.some((value) => matchesArn(value, actual));
  }
}

/** Matches wildcards within each of an ARN's six parts. */
function matchesArn(pattern: string, arn: string): boolean {
  const actual = arnParts(arn);
  const wanted = arnParts(pattern);
  return (
    actual.length === wanted.length &&
    wanted.every((part, index) => wildcardPattern(part).test(actual[index] ?? ""))
  );
}

function arnParts(arn: string): string[] {
  const parts = arn.split(":");
  return [...parts.slice(0, 5), parts.slice(5).join(":")];
}
