import {
  noValue,
  resolveCondition,
  resolveValue,
  type Scope,
} from "@income-events/local-stack/assembly/intrinsics.ts";
import { PlanError } from "@income-events/local-stack/assembly/problems.ts";
import { describe, expect, test } from "vitest";

const names: Readonly<Record<string, unknown>> = {
  Name: "orders",
  "AWS::Region": "eu-central-1",
  "AWS::NoValue": noValue,
};
const scope: Scope = {
  ref: (name) => names[name] ?? `ref of ${name}`,
  attribute: (logicalId, attribute) => `${attribute} of ${logicalId}`,
  condition: (name) => name === "Yes",
};

describe("intrinsic functions", () => {
  test.each([
    ["Ref", { Ref: "Name" }, "orders"],
    ["Fn::GetAtt as a list", { "Fn::GetAtt": ["Queue", "Arn"] }, "Arn of Queue"],
    ["Fn::GetAtt as a string", { "Fn::GetAtt": "Queue.Arn" }, "Arn of Queue"],
    [
      "Fn::Sub",
      { "Fn::Sub": `\${Name}-\${AWS::Region}-\${Queue.Arn}-\${!Literal}` },
      `orders-eu-central-1-Arn of Queue-\${Literal}`,
    ],
    ["Fn::Sub with variables", { "Fn::Sub": [`\${A}\${Name}`, { A: { Ref: "Name" } }] }, "ordersorders"],
    ["Fn::Join", { "Fn::Join": ["/", ["a", { Ref: "Name" }, 3]] }, "a/orders/3"],
    ["Fn::Split and Fn::Select", { "Fn::Select": ["1", { "Fn::Split": [":", "a:b:c"] }] }, "b"],
    ["Fn::If, when it holds", { "Fn::If": ["Yes", "a", "b"] }, "a"],
    ["Fn::If, when it does not", { "Fn::If": ["No", "a", { Ref: "Name" }] }, "orders"],
    ["AWS::NoValue in an object", { a: 1, b: { Ref: "AWS::NoValue" } }, { a: 1 }],
    ["AWS::NoValue in a list", ["a", { "Fn::If": ["No", "b", { Ref: "AWS::NoValue" }] }], ["a"]],
    [
      "a policy's Condition, which is no intrinsic",
      { Condition: { Bool: { a: "b" } } },
      { Condition: { Bool: { a: "b" } } },
    ],
  ])("%s", (_, value, expected) => {
    expect(resolveValue(value, scope)).toEqual(expected);
  });

  test.each([
    ["an unknown function", { "Fn::Transform": {} }, "Fn::Transform is not known"],
    ["a dynamic reference", "{{resolve:ssm:/x}}", "dynamic reference {{resolve:ssm:/x}}"],
    ["an index outside of the list", { "Fn::Select": [2, ["a"]] }, "entry 2 of 1"],
    ["an argument of another shape", { "Fn::Join": "x" }, "Fn::Join has the argument"],
    [
      "an object where text is joined",
      { "Fn::Join": ["", [{ a: 1, b: 2 }]] },
      'Fn::Join has the argument {"a":1',
    ],
  ])("refuses %s", (_, value, message) => {
    expect(() => resolveValue(value, scope)).toThrow(PlanError);
    expect(() => resolveValue(value, scope)).toThrow(message);
  });
});

describe("conditions", () => {
  test.each([
    [{ "Fn::Equals": [{ Ref: "Name" }, "orders"] }, true],
    [{ "Fn::Equals": [{ Ref: "Name" }, "others"] }, false],
    [{ "Fn::And": [{ Condition: "Yes" }, { Condition: "No" }] }, false],
    [{ "Fn::Or": [{ Condition: "Yes" }, { Condition: "No" }] }, true],
    [{ "Fn::Not": [{ Condition: "No" }] }, true],
  ])("%j is %s", (condition, expected) => {
    expect(resolveCondition(condition, scope)).toBe(expected);
  });

  test("an unknown operator is refused by name", () => {
    expect(() => resolveCondition({ "Fn::Contains": [["a"], "a"] }, scope)).toThrow("Fn::Contains");
  });
});
