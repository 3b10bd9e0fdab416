import { decide } from "@income-events/local-stack/iam/evaluate.ts";
import { neededFor } from "@income-events/local-stack/iam/grants.ts";
import { parsePolicy, UnsupportedPolicyError } from "@income-events/local-stack/iam/policy.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const queue = "arn:aws:sqs:eu-central-1:000000000000:users";
const role = "arn:aws:iam::000000000000:role/store";
const base = { principal: role, action: "sqs:SendMessage", resource: queue, context: {} };

function policy(...statements: Record<string, unknown>[]) {
  const complete = statements.map((statement) => ({
    Effect: "Allow",
    Action: "sqs:SendMessage",
    Resource: queue,
    ...statement,
  }));
  return parsePolicy({ Version: "2012-10-17", Statement: complete }, "StoreRole");
}

function allowed(
  request: Partial<typeof base> & { context?: Record<string, string | string[]> },
  ...statements: Record<string, unknown>[]
) {
  return decide({ ...base, ...request }, [policy(...statements)], undefined).allowed;
}

function allowedByResource(
  principal: string,
  statement: Record<string, unknown>,
  context: Record<string, string> = {},
) {
  return decide({ ...base, principal, context }, [], policy(statement)).allowed;
}

describe("decisions", () => {
  test("nothing is allowed by default", () => {
    expect(decide(base, [], undefined)).toEqual({
      allowed: false,
      reason: "no policy allows the sqs:SendMessage action",
    });
  });

  test("an allow of the resource suffices within the account", () => {
    expect(allowedByResource(role, { Principal: { AWS: role } })).toBe(true);
  });

  test("a resource's deny wins over the role's allow", () => {
    const denial = policy({ Effect: "Deny", Principal: "*" });
    expect(decide(base, [policy({})], denial).reason).toBe("explicit deny in StoreRole, statement 1");
  });

  test("whatever else is allowed, a matching deny wins (law)", () => {
    const statement = fc.record({
      Effect: fc.constantFrom("Allow", "Deny"),
      Action: fc.constantFrom("sqs:SendMessage", "sqs:*", "*", "sqs:Send*", "s3:GetObject"),
      Resource: fc.constantFrom(queue, "*", `${queue}*`, "arn:aws:s3:::bucket/*"),
    });
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1 }), (statements) => {
        const matches = statements.filter(
          ({ Action, Resource }) => Action !== "s3:GetObject" && !Resource.includes("s3"),
        );
        const expected =
          matches.some(({ Effect }) => Effect === "Allow") &&
          matches.every(({ Effect }) => Effect === "Allow");
        expect(allowed({}, ...statements)).toBe(expected);
      }),
    );
  });
});

describe("actions and resources", () => {
  test.each([
    ["sqs:SendMessage", true],
    ["sqs:sendmessage", true],
    ["sqs:Send*", true],
    ["sqs:*", true],
    ["*", true],
    ["sqs:SendMessageBatch", false],
    ["sqs:Receive*", false],
    ["s3:*", false],
  ])("action %s: %s", (Action, expected) => {
    expect(allowed({}, { Action })).toBe(expected);
  });

  test.each([
    ["arn:aws:s3:::bucket/*", "arn:aws:s3:::bucket/a/b", true],
    ["arn:aws:s3:::bucket/bodies/*", "arn:aws:s3:::bucket/data/1", false],
    ["arn:aws:s3:::bucket", "arn:aws:s3:::bucket/a", false],
    ["arn:aws:s3:::bucket/a.b", "arn:aws:s3:::bucket/aXb", false],
    ["arn:aws:s3:::bucket/?", "arn:aws:s3:::bucket/a", true],
    ["*", "arn:aws:s3:::bucket/a", true],
  ])("resource %s covers %s: %s", (Resource, resource, expected) => {
    expect(allowed({ resource }, { Resource })).toBe(expected);
  });
});

describe("principals", () => {
  test.each([
    ["anyone", "*", role, true],
    ["anyone of AWS", { AWS: "*" }, role, true],
    ["a role", { AWS: [role] }, role, true],
    ["another role", { AWS: `${role}2` }, role, false],
    ["a service", { Service: "events.amazonaws.com" }, "events.amazonaws.com", true],
    ["another service", { Service: "lambda.amazonaws.com" }, "events.amazonaws.com", false],
    ["the account, which only delegates", { AWS: "arn:aws:iam::000000000000:root" }, role, false],
  ])("%s", (_, Principal, principal, expected) => {
    expect(allowedByResource(principal, { Principal })).toBe(expected);
  });

  test("a deny for the account holds for each of its roles", () => {
    const denial = policy({ Effect: "Deny", Principal: { AWS: "000000000000" } });
    expect(decide(base, [policy({})], denial).allowed).toBe(false);
  });
});

describe("conditions", () => {
  const source = "arn:aws:events:eu-central-1:000000000000:rule/tick";
  const secure = (value: unknown) => ({ "aws:SecureTransport": value });
  const from = (arn: string) => ({ "aws:SourceArn": arn });
  const by = (arn: string | string[]) => ({ "aws:PrincipalArn": arn });
  const account = (...ids: string[]) => ({ "aws:SourceAccount": ids });
  const viaUrl = (value: string) => ({ "lambda:InvokedViaFunctionUrl": value });
  const tagged = (value: string) => ({ "aws:ResourceTag/a:b": value });
  test.each<[object, Record<string, string>, boolean]>([
    [{ Bool: secure("true") }, { "aws:SecureTransport": "true" }, true],
    [{ Bool: secure(false) }, { "aws:SecureTransport": "true" }, false],
    [{ ArnEquals: from(source) }, from(source), true],
    [{ ArnLike: from("arn:aws:events:*:*:rule/*") }, from(source), true],
    [{ ArnLike: from("arn:aws:sqs:*") }, from(source), false],
    [{ StringEquals: account("1", "000000000000") }, { "aws:SourceAccount": "000000000000" }, true],
    [{ StringEquals: account("000000000000") }, {}, false],
    [{ ArnEquals: by([`${role}2`, role]) }, { "aws:PrincipalArn": role }, true],
    [{ ArnEquals: by(role) }, { "aws:PrincipalArn": `${role}2` }, false],
    [{ Bool: viaUrl("true") }, viaUrl("true"), true],
    [{ Bool: viaUrl("true") }, {}, false],
    [{ BoolIfExists: viaUrl("false") }, viaUrl("true"), false],
    [{ BoolIfExists: viaUrl("false") }, {}, true],
    [{ StringEquals: tagged("one") }, tagged("one"), true],
    [{ StringEquals: tagged("one") }, tagged("two"), false],
    [{ StringEquals: tagged("one") }, { "aws:ResourceTag/A:b": "one" }, false],
    [{ StringEquals: tagged("one") }, {}, false],
    [{ Bool: secure("true"), ArnEquals: from(source) }, { "aws:SecureTransport": "true" }, false],
  ])("%j with %j: %s", (Condition, context, expected) => {
    expect(allowed({ context }, { Condition })).toBe(expected);
  });
});

describe("conditions on single items", () => {
  const Condition = {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["USER#*", "ACCOUNT#*"] },
    "ForAllValues:StringEquals": { "dynamodb:Attributes": ["pk", "state"] },
    StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
  };
  const select = "SPECIFIC_ATTRIBUTES";
  test.each([
    ["USER#1", "state", select, true],
    ["ERASED#1", "state", select, false],
    ["USER#1", "body", select, false],
    ["USER#1", "state", "ALL_ATTRIBUTES", false],
  ])("%s, %s, %s: %s", (key, attribute, choice, expected) => {
    const context = {
      "dynamodb:LeadingKeys": ["ACCOUNT#1", key],
      "dynamodb:Attributes": ["pk", attribute],
      "dynamodb:Select": choice,
    };
    expect(allowed({ context }, { Condition })).toBe(expected);
  });

  test("are true if the request has no such facts", () => {
    expect(allowed({}, { Condition })).toBe(true);
  });
});

test("between two accounts both sides must allow it", () => {
  const principal = "arn:aws:iam::111122223333:role/reader";
  const ofResource = policy({ Principal: { AWS: "111122223333" } });
  expect(decide({ ...base, principal }, [], ofResource).allowed).toBe(false);
  expect(decide({ ...base, principal }, [policy({})], undefined).allowed).toBe(false);
  expect(decide({ ...base, principal }, [policy({})], ofResource).allowed).toBe(true);
});

test("a call needs the statement that allows it, neither of two that do so each by itself, and none if refused", () => {
  const neededBy = (action: string, ...statements: Record<string, unknown>[]) => {
    const request = { ...base, action };
    return neededFor(request, decide(request, [policy(...statements)], undefined).allowing ?? []);
  };
  expect(neededBy("sqs:SendMessage", {})).toEqual({ action: "sqs:SendMessage", resource: queue });
  expect(neededBy("sqs:SendMessage", {}, { Resource: "*" })).toBeUndefined();
  expect(neededBy("sqs:DeleteMessage", {})).toBeUndefined();
});

describe("what is not understood is refused", () => {
  test.each([
    ["NotAction", { NotAction: "sqs:*" }],
    ["NotResource", { NotResource: queue }],
    ["NotPrincipal", { NotPrincipal: "*" }],
    ['Effect "Maybe"', { Effect: "Maybe" }],
    ['Action "sqs:*Message"', { Action: "sqs:*Message" }],
    ['Action "SendMessage"', { Action: "SendMessage" }],
    ["an empty Action", { Action: [] }],
    ['Resource {"Fn::GetAtt":["Queue","Arn"]}', { Resource: { "Fn::GetAtt": ["Queue", "Arn"] } }],
    ["a policy variable in Resource", { Resource: "arn:aws:s3:::bucket/\u0024{aws:username}" }],
    ["a missing Resource", { Resource: undefined }],
    ["Federated", { Principal: { Federated: "x" } }],
    ['Principal "store"', { Principal: { AWS: "store" } }],
    [
      'Condition operator "StringNotEquals"',
      { Condition: { StringNotEquals: { "aws:SourceAccount": "1" } } },
    ],
    ['Condition operator "Null"', { Condition: { Null: { "aws:SecureTransport": "true" } } }],
    [
      'Condition key "aws:PrincipalTag/team"',
      { Condition: { StringEquals: { "aws:PrincipalTag/team": "a" } } },
    ],
  ])("%s", (what, statement) => {
    const parsing = () => policy({}, { Sid: "Odd", ...statement });
    expect(parsing).toThrow(UnsupportedPolicyError);
    expect(parsing).toThrow("StoreRole, statement 2 (Odd)");
    expect(parsing).toThrow(`does not understand ${what}`);
  });

  test.each([
    [undefined],
    ["text"],
    [{ Version: "2030-01-01", Statement: [] }],
    [{ Statement: [], Extra: 1 }],
  ])("the document %j", (document) => {
    expect(() => parsePolicy(document, "StoreRole")).toThrow(UnsupportedPolicyError);
  });
});
