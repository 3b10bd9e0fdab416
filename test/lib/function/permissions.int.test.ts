import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { breakerKey, callWindowKey, refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { resourceWildcards } from "../../../lib/function/permissions.ts";
import { keyArn, nameOf, productionSettings, synthesized } from "../synthesized.ts";
import { allowedBy, readable, role } from "./roles.ts";

const stack = synthesized(productionSettings);

const roles = stack.ofType("AWS::IAM::Role");
const functions = roles.map(({ id }) => nameOf(id).replace(/Role$/, ""));

describe("a function's role", () => {
  it("is there for each function, and for nothing else", () => {
    const used = stack.ofType("AWS::Lambda::Function").map(({ Properties }) => readable(Properties.Role));
    expect(used.sort()).toEqual(functions.map((name) => `${name}Role`).sort());
    expect(stack.ofType("AWS::IAM::Policy")).toEqual([]);
  });

  it("allows in production what its record contains, and the protection of the stack", () => {
    const local = synthesized(JSON.parse(readFileSync("stages/local.json", "utf8")), "local");
    const settings = { ...productionSettings, subscribers: [{ name: "everything" }, { name: "accounts" }] };
    const all = ({ ofType }: typeof local) =>
      ofType("AWS::IAM::Role").flatMap((each) => allowedBy(each).map((pair) => `${nameOf(each.id)} ${pair}`));
    const recorded = new Set(all(local));
    expect(all(synthesized(settings)).filter((line) => !recorded.delete(line))).toEqual([
      "ProtectionTableRole cloudformation:DescribeStacks AWS::StackId",
      "ProtectionTableRole dynamodb:DescribeTable EventsTable",
      "ProtectionTableRole dynamodb:UpdateTable EventsTable",
      "ProtectionTableRole logs:CreateLogStream ProtectionTableLogs",
      "ProtectionTableRole logs:PutLogEvents ProtectionTableLogs",
      "ProtectionCreationRole cloudformation:DescribeStacks AWS::StackId",
      "ProtectionCreationRole cloudformation:UpdateTerminationProtection AWS::StackId",
      "ProtectionCreationRole logs:CreateLogStream ProtectionCreationLogs",
      "ProtectionCreationRole logs:PutLogEvents ProtectionCreationLogs",
    ]);
    expect([...recorded]).toEqual([]);
  });

  it("that reads for subscribers sees states and documents alone: no event, tombstone or secret", () => {
    const statements = role
      .parse(stack.withId("ReadDocumentsRole").Properties)
      .Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    expect(statements.find(({ Action }) => Action.includes("dynamodb:GetItem"))?.Condition).toEqual({
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["USER#*", "ACCOUNT#*", "COMPANY#*"] },
      "ForAllValues:StringEquals": {
        "dynamodb:Attributes": ["pk", "sk", "schemaVersion", "state", "document", "expiresAt"],
      },
      StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
    });
  });

  it.each(["RefreshToken", "RegisterWebhooks"])(
    "%s has no access to personal records, only to the provider's state",
    (name) => {
      const { Policies } = role.parse(stack.withId(`${name}Role`).Properties);
      const onItems = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).filter(
        ({ Action }) => Action.some((action) => action.startsWith("dynamodb:")),
      );
      expect(onItems.map(({ Condition }) => Condition)).toEqual([
        { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["PROVIDER"] } },
      ]);
      expect([callWindowKey(0).pk, breakerKey.pk, refusalNoteKey.pk]).toEqual(Array(3).fill("PROVIDER"));
    },
  );

  it("has no managed policy, and only Lambda takes it on", () => {
    for (const { Properties } of roles) {
      expect(Properties).not.toHaveProperty("ManagedPolicyArns");
      expect(role.parse(Properties).AssumeRolePolicyDocument).toEqual({
        Version: "2012-10-17",
        Statement: [
          { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" } },
        ],
      });
    }
  });
});

describe("with a customer's key", () => {
  const encrypted = synthesized({ ...productionSettings, encryption: { keyArn } });
  const both = ["kms:Decrypt", "kms:GenerateDataKey"];
  /** Sending and writing need a new data key; SQS verifies it by decrypting it. */
  const ofKey = (name: string) => {
    if (name.startsWith("Protection")) return [];
    // These only read; one of them reads secrets and items of the table, whose data key exists.
    return /^(Read|Register)/.test(name) ? ["kms:Decrypt"] : both;
  };

  it.each(functions)("a role may use that key alone, and else what it may: %s", (name) => {
    const lines = ofKey(name).map((action) => `${action} ${keyArn}`);
    const before = allowedBy(stack.withId(`${name}Role`));
    expect(allowedBy(encrypted.withId(`${name}Role`)).sort()).toEqual([...before, ...lines].sort());
  });

  it("the key itself stays as it is: the stack has none, and no policy of one", () => {
    expect(encrypted.resources.filter(({ Type }) => Type.startsWith("AWS::KMS::"))).toEqual([]);
  });
});

const traced = synthesized({ ...productionSettings, tracing: "service" });

describe("with tracing", () => {
  it.each(functions)("a role may send traces, and else what it may: %s", (name) => {
    const sent = ["xray:PutTelemetryRecords *", "xray:PutTraceSegments *"];
    const before = allowedBy(stack.withId(`${name}Role`));
    expect(allowedBy(traced.withId(`${name}Role`)).sort()).toEqual([...before, ...sent].sort());
    expect(traced.withId(`${name}Function`).Properties).toMatchObject({ TracingConfig: { Mode: "Active" } });
    expect(readable(traced.withId(`${name}Function`).Properties.Role)).toBe(`${name}Role`);
    expect(stack.withId(`${name}Function`).Properties).not.toHaveProperty("TracingConfig");
  });

  it("there is no other policy", () => {
    expect(traced.ofType("AWS::IAM::Policy")).toEqual([]);
  });
});

describe("wildcards", () => {
  const vaultArn = "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events";
  const eraser = synthesized({ ...productionSettings, recovery: { vaultArn } }).withId("EraseSubjectsRole");
  const pairs = [...roles, ...traced.ofType("AWS::IAM::Role"), eraser].flatMap((each) =>
    allowedBy(each).map((pair) => pair.split(" ")),
  );

  it("are in no allowed action of roles and resource policies", () => {
    expect(pairs.filter(([action]) => action?.includes("*"))).toEqual([]);
    expect(stack.text).not.toMatch(/"Action":[^}]*\*[^}]*"Effect":"Allow"/);
  });

  it("are only in listed resources, and each listed one is in use", () => {
    const used = pairs
      .filter(([, resource]) => resource?.includes("*"))
      .map(([action, resource = ""]) => `${action} ${resource.replace(/^[A-Za-z]+/, "")}`);
    const listed = resourceWildcards.flatMap(({ actions, resource }) =>
      actions.map((action) => `${action} ${resource}`),
    );
    expect([...new Set(used)].sort()).toEqual([...listed].sort());
  });

  it("have a reason of a sentence", () => {
    for (const { reason } of resourceWildcards) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });
});
