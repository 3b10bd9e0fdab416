/**
 * Parses IAM policy documents for `decide`.
 *
 * Supports only the elements that the stack's policies use. Any other is refused with an
 * `UnsupportedPolicyError`: a skipped rule would be an untested permission.
 */

/** A policy document that this evaluator does not support. */
export class UnsupportedPolicyError extends Error {
  override readonly name = "UnsupportedPolicyError";
}

const conditionKeys = [
  "aws:PrincipalArn",
  "aws:SecureTransport",
  "aws:SourceArn",
  "aws:SourceAccount",
  "dynamodb:Attributes",
  "dynamodb:LeadingKeys",
  "dynamodb:Select",
  "lambda:FunctionUrlAuthType",
  "lambda:InvokedViaFunctionUrl",
] as const;
type ConditionKey = (typeof conditionKeys)[number] | `aws:ResourceTag/${string}`;
const resourceTag = "aws:ResourceTag/";

type ConditionOperator = "Bool" | "ArnLike" | "StringEquals" | "StringLike";

/** ArnEquals and ArnLike are the same operator. */
const conditionOperators: Readonly<Record<string, Pick<Condition, "operator" | "holdsWithout">>> = {
  Bool: { operator: "Bool", holdsWithout: false },
  BoolIfExists: { operator: "Bool", holdsWithout: true },
  ArnEquals: { operator: "ArnLike", holdsWithout: false },
  ArnLike: { operator: "ArnLike", holdsWithout: false },
  StringEquals: { operator: "StringEquals", holdsWithout: false },
  StringEqualsIfExists: { operator: "StringEquals", holdsWithout: true },
  "ForAllValues:StringEquals": { operator: "StringEquals", holdsWithout: true },
  "ForAllValues:StringLike": { operator: "StringLike", holdsWithout: true },
};

export type Condition = {
  readonly operator: ConditionOperator;
  /** Whether the condition is true if the request has no such fact. All of several values must match. */
  readonly holdsWithout: boolean;
  readonly key: ConditionKey;
  readonly values: readonly string[];
};

export type PrincipalPattern =
  | { readonly kind: "anyone" }
  | { readonly kind: "service"; readonly name: string }
  /** The account as principal; in an Allow it only delegates to the account's identity policies. */
  | { readonly kind: "account"; readonly account: string }
  | { readonly kind: "arn"; readonly arn: string };

export type Statement = {
  readonly place: string;
  readonly effect: "Allow" | "Deny";
  readonly actions: readonly RegExp[];
  /** Undefined only in trust policies, whose resource is the role itself. */
  readonly resources: readonly RegExp[] | undefined;
  /** Undefined in identity policies. */
  readonly principals: readonly PrincipalPattern[] | undefined;
  readonly conditions: readonly Condition[];
};

export type Policy = { readonly where: string; readonly statements: readonly Statement[] };

/**
 * Parses a policy document whose intrinsic functions (`Ref`, `Fn::GetAtt`, …) are already resolved.
 * @param where names the document in errors, for example `StoreUsersRole policy DefaultPolicy`
 * @throws UnsupportedPolicyError naming the statement and the unsupported element
 */
export function parsePolicy(document: unknown, where: string): Policy {
  const policy = parseObject(document, where);
  refuseUnknownElements(policy, ["Version", "Id", "Statement"], where);
  const version = policy.Version ?? "2008-10-17";
  if (version !== "2012-10-17" && version !== "2008-10-17")
    refuse(where, `Version ${JSON.stringify(version)}`);
  const statements = Array.isArray(policy.Statement) ? policy.Statement : [policy.Statement];
  return { where, statements: statements.map((statement, index) => parseStatement(statement, where, index)) };
}

function parseStatement(value: unknown, where: string, index: number): Statement {
  const numbered = `${where}, statement ${index + 1}`;
  const statement = parseObject(value, numbered);
  const place = typeof statement.Sid === "string" ? `${numbered} (${statement.Sid})` : numbered;
  refuseUnknownElements(statement, ["Sid", "Effect", "Action", "Resource", "Principal", "Condition"], place);
  const { Effect: effect } = statement;
  if (effect !== "Allow" && effect !== "Deny") return refuse(place, `Effect ${JSON.stringify(effect)}`);
  const principals =
    statement.Principal === undefined ? undefined : parsePrincipals(statement.Principal, place);
  if (statement.Resource === undefined && principals === undefined) refuse(place, "a missing Resource");
  return {
    place,
    effect,
    actions: parseStrings(statement.Action, "Action", place).map((action) => parseAction(action, place)),
    resources:
      statement.Resource === undefined
        ? undefined
        : parseStrings(statement.Resource, "Resource", place).map((arn) => parseResource(arn, place)),
    principals,
    conditions: statement.Condition === undefined ? [] : parseConditions(statement.Condition, place),
  };
}

/**
 * Parses `service:Action`, `service:Prefix*`, `service:*` or `*`. Action names are case-insensitive, as in
 * IAM.
 */
function parseAction(action: string, place: string): RegExp {
  if (!/^(\*|[a-z0-9-]+:[A-Za-z0-9]*\*?)$/.test(action)) refuse(place, `Action ${JSON.stringify(action)}`);
  return wildcardPattern(action, "i");
}

function parseResource(arn: string, place: string): RegExp {
  if (arn !== "*" && !arn.startsWith("arn:")) refuse(place, `Resource ${JSON.stringify(arn)}`);
  if (arn.includes("${")) refuse(place, `a policy variable in Resource ${JSON.stringify(arn)}`);
  return wildcardPattern(arn);
}

function parsePrincipals(value: unknown, place: string): PrincipalPattern[] {
  if (value === "*") return [{ kind: "anyone" }];
  const principals = parseObject(value, `${place}, Principal`);
  refuseUnknownElements(principals, ["Service", "AWS"], `${place}, Principal`);
  const services =
    principals.Service === undefined ? [] : parseStrings(principals.Service, "Principal", place);
  const arns = principals.AWS === undefined ? [] : parseStrings(principals.AWS, "Principal", place);
  return [
    ...services.map((name): PrincipalPattern => ({ kind: "service", name })),
    ...arns.map((arn) => parseAwsPrincipal(arn, place)),
  ];
}

function parseAwsPrincipal(arn: string, place: string): PrincipalPattern {
  if (arn === "*") return { kind: "anyone" };
  const account = /^(?:arn:aws:iam::)?(\d{12})(?::root)?$/.exec(arn)?.[1];
  if (account !== undefined) return { kind: "account", account };
  if (!arn.startsWith("arn:aws:") || arn.includes("*")) refuse(place, `Principal ${JSON.stringify(arn)}`);
  return { kind: "arn", arn };
}

function parseConditions(value: unknown, place: string): Condition[] {
  return Object.entries(parseObject(value, `${place}, Condition`)).flatMap(([name, tests]) => {
    const operator = conditionOperators[name];
    if (operator === undefined) return refuse(place, `Condition operator ${JSON.stringify(name)}`);
    return Object.entries(parseObject(tests, `${place}, Condition ${name}`)).map(([keyName, wanted]) => {
      const key = conditionKeyOf(keyName);
      if (key === undefined) return refuse(place, `Condition key ${JSON.stringify(keyName)}`);
      const values =
        typeof wanted === "boolean" ? [String(wanted)] : parseStrings(wanted, `Condition ${keyName}`, place);
      return { ...operator, key, values };
    });
  });
}

/** Key names are case-insensitive, but tag names are not. */
function conditionKeyOf(name: string): ConditionKey | undefined {
  if (name.startsWith(resourceTag)) return `${resourceTag}${name.slice(resourceTag.length)}`;
  return conditionKeys.find((known) => known.toLowerCase() === name.toLowerCase());
}

export function asksForTags(policies: readonly Policy[]): boolean {
  return policies.some(({ statements }) =>
    statements.some(({ conditions }) => conditions.some(({ key }) => key.startsWith(resourceTag))),
  );
}

export function tagContext(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [`${resourceTag}${key}`, value]));
}

function parseStrings(value: unknown, element: string, place: string): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  if (values.length === 0) refuse(place, `an empty ${element}`);
  return values.map((one) =>
    typeof one === "string" ? one : refuse(place, `${element} ${JSON.stringify(one)}`),
  );
}

function parseObject(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse(place, `${JSON.stringify(value)} where an object is expected`);
  }
  return Object.fromEntries(Object.entries(value));
}

function refuseUnknownElements(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  place: string,
): void {
  const unknown = Object.keys(value).find((element) => !known.includes(element));
  if (unknown !== undefined) refuse(place, unknown);
}

function refuse(place: string, what: string): never {
  throw new UnsupportedPolicyError(
    `${place}: the local runner does not understand ${what}. Write the policy with exact actions, ARNs and the ` +
      "known conditions (docs/reference/local-semantics.md), or teach packages/local-stack/iam the element with a test.",
  );
}

/** Converts an IAM pattern (`*` any characters, `?` one character) to an anchored regular expression. */
export function wildcardPattern(pattern: string, flags = ""): RegExp {
  const source = pattern
    .replace(/[\\^$+.()|[\]{}]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, `s${flags}`);
}
