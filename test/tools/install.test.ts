import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, type Source, startSource } from "../../proof/first-event/installed-app.ts";

const app = `
import { App, Stack } from "aws-cdk-lib";
import { IncomeEvents } from "@income-events/cdk";
const stack = new Stack(new App({ outdir: "cdk.out" }), "Lending");
new IncomeEvents(stack, "Events", { stage: "dev", production: false, subscribers: [{ name: "billing" }] });
stack.node.root.synth();
`;

describe("the construct's package, installed by npm in an empty folder", () => {
  let folder: string;
  let project: string;
  let source: Source;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "install-"));
    project = join(folder, "an app");
    mkdirSync(project);
    source = await startSource(folder, ["cdk"]);
    writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await run(source, project, ["npm", "install", source.fileOf("cdk")]);
  });
  afterAll(async () => {
    await source?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it("brings its peers with it, and asks for nothing that is not locked", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(
      expect.arrayContaining(["@income-events", "aws-cdk-lib", "constructs"]),
    );
    expect(source.registry.unknown()).toEqual([]);
  });

  it("is synthesized by an app, with what npm has installed alone", async () => {
    writeFileSync(join(project, "app.js"), app);
    await run({ env: { ...source.env, CDK_VALIDATION: "false" } }, project, ["node", "app.js"]);
    expect(readdirSync(join(project, "cdk.out"))).toContain("Lending.template.json");
  });
});
