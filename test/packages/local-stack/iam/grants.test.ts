import { decide } from "@income-events/local-stack/iam/evaluate.ts";
import { grantsOf, neededFor } from "@income-events/local-stack/iam/grants.ts";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { describe, expect, it } from "vitest";

const queue = "arn:aws:sqs:eu-central-1:000000000000:q";
const role = { principal: "arn:aws:iam::000000000000:role/r", context: {} };
const allow = (Action: string[], Resource: string | string[]) => ({ Effect: "Allow", Action, Resource });

function neededBy(action: string, ...statements: object[]) {
  const policy = parsePolicy({ Version: "2012-10-17", Statement: statements }, "a policy");
  const request = { ...role, action, resource: queue };
  return neededFor(request, decide(request, [policy], undefined).allowing ?? []);
}

describe("a call", () => {
  it("needs the one action on the one resource that allow it, with wildcards as they are written", () => {
    const statement = allow(["sqs:SendMessage", "sqs:DeleteMessage"], [queue, "arn:aws:s3:::b/data.v1/*"]);
    expect(neededBy("sqs:SendMessage", statement)).toEqual({ action: "sqs:SendMessage", resource: queue });
    const all = allow(["sqs:*"], "arn:aws:sqs:*:000000000000:?");
    expect(neededBy("sqs:SendMessage", all)).toEqual({
      action: "sqs:*",
      resource: "arn:aws:sqs:*:000000000000:?",
    });
  });

  it("needs none of two that allow it each by itself, and none where it is refused", () => {
    const one = allow(["sqs:SendMessage"], queue);
    expect(neededBy("sqs:SendMessage", one, allow(["sqs:SendMessage"], "*"))).toBeUndefined();
    expect(neededBy("sqs:DeleteMessage", one)).toBeUndefined();
  });
});

it("a policy's grants are each action on each resource, once", () => {
  const statement = allow(["s3:GetObject", "s3:PutObject"], ["arn:aws:s3:::b/data.v1/*", queue]);
  const policy = parsePolicy({ Version: "2012-10-17", Statement: [statement, statement] }, "a policy");
  expect(grantsOf([policy])).toHaveLength(4);
  expect(grantsOf([policy])).toContainEqual({
    action: "s3:PutObject",
    resource: "arn:aws:s3:::b/data.v1/*",
  });
});
