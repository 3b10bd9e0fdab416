import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTemplate } from "@income-events/local-stack/assembly/template.ts";
import { changedFunctions, watchProject } from "@income-events/local-stack/stay-up/watch-project.ts";
import { readProject } from "@income-events/local-stack/synthesis/project.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("the watch of a project", () => {
  let folder: string;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "watched "));
    mkdirSync(join(folder, "stages"));
    mkdirSync(join(folder, "node_modules/.pnpm"), { recursive: true });
    write("cdk.json", JSON.stringify({ app: "node app.js", watch: { include: ["app.js", "stages/**"] } }));
    write("app.js", "one");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["a file that cdk.json names", "app.js"],
    ["a new file of a folder that it names", "stages/local.json"],
    ["what npm has installed", "node_modules/.package-lock.json"],
    ["what pnpm has installed", "node_modules/.pnpm/lock.yaml"],
    ["what yarn 1 has installed", "node_modules/.yarn-integrity"],
    ["what a later yarn has installed", "node_modules/.yarn-state.yml"],
  ])("sees changed content of %s", async (_, name) => {
    using watching = watchProject(readProject(folder));
    const changed = watching.changed();
    write(name, "two");
    await changed;
  });

  it("sees a change between two waits once", async () => {
    using watching = watchProject(readProject(folder));
    write("app.js", "two");
    await watching.changed();
    let again = false;
    const next = watching.changed().then(() => {
      again = true;
    });
    write("app.js", "two");
    write("README.md", "of no concern");
    await Promise.resolve();
    expect(again).toBe(false);
    write("app.js", "three");
    await next;
  });
});

const functionWith = (properties: object) => ({ Type: "AWS::Lambda::Function", Properties: properties });
const templateOf = (resources: object) => parseTemplate({ Resources: resources });
const queue = { Type: "AWS::SQS::Queue", Properties: { VisibilityTimeout: 30 } };
const before = templateOf({
  Store: functionWith({ Code: { S3Key: "one.zip" }, Environment: { A: "1" }, Timeout: 3 }),
  Relay: functionWith({ Code: { S3Key: "two.zip" }, Timeout: 3 }),
  Queue: queue,
});
const relay = functionWith({ Code: { S3Key: "two.zip" }, Timeout: 3 });

describe("a change of the app", () => {
  it("replaces only the functions whose code or environment has changed", () => {
    const store = functionWith({ Code: { S3Key: "three.zip" }, Environment: { A: "2" }, Timeout: 3 });
    expect(changedFunctions(before, templateOf({ Store: store, Relay: relay, Queue: queue }))).toEqual([
      "Store",
    ]);
  });

  it.each([
    ["a function's time", { Relay: functionWith({ Code: { S3Key: "two.zip" }, Timeout: 4 }) }],
    ["a queue", { Queue: { ...queue, Properties: { VisibilityTimeout: 60 } } }],
    ["one resource more", { Other: queue }],
  ])("needs a restart if something else changes: %s", (_, changed) => {
    expect(changedFunctions(before, templateOf({ ...before.Resources, ...changed }))).toBeUndefined();
  });
});
