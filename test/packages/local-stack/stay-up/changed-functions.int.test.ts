import { parseTemplate } from "@income-events/local-stack/assembly/template.ts";
import { changedFunctions } from "@income-events/local-stack/stay-up/watch-project.ts";
import { describe, expect, it } from "vitest";

const functionWith = (properties: object) => ({ Type: "AWS::Lambda::Function", Properties: properties });
const templateOf = (resources: object) => parseTemplate({ Resources: resources });
const queue = { Type: "AWS::SQS::Queue", Properties: { VisibilityTimeout: 30 } };
const before = templateOf({
  Store: functionWith({ Code: { S3Key: "one.zip" }, Environment: { A: "1" }, Timeout: 3 }),
  Relay: functionWith({ Code: { S3Key: "two.zip" }, Timeout: 3 }),
  Queue: queue,
});
const relay = functionWith({ Code: { S3Key: "two.zip" }, Timeout: 3 });

describe("what a change of the app takes", () => {
  it("is to serve the functions whose code or environment is another, and no other", () => {
    const store = functionWith({ Code: { S3Key: "three.zip" }, Environment: { A: "2" }, Timeout: 3 });
    expect(changedFunctions(before, templateOf({ Store: store, Relay: relay, Queue: queue }))).toEqual([
      "Store",
    ]);
  });

  it("is nothing where the template is the same", () => {
    expect(changedFunctions(before, before)).toEqual([]);
  });

  it.each([
    ["a function's time", { Relay: functionWith({ Code: { S3Key: "two.zip" }, Timeout: 4 }) }],
    ["a queue", { Queue: { ...queue, Properties: { VisibilityTimeout: 60 } } }],
    ["one resource more", { Other: queue }],
  ])("is a new start where something else changes: %s", (_, changed) => {
    expect(changedFunctions(before, templateOf({ ...before.Resources, ...changed }))).toBeUndefined();
  });
});
