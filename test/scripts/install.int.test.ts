import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, type Source, startSource } from "../support/installed-app.ts";

const repository = join(import.meta.dirname, "../..");
const app = `
import { App, Stack } from "aws-cdk-lib";
import { IncomeEvents } from "@income-events/cdk";
const app = new App({ builtinCloudFormationValidation: false });
new IncomeEvents(new Stack(app, "Lending"), "Events", { stage: "dev", production: false });
app.synth();
`;

describe("the commands and the construct, as npm installs them", () => {
  let folder: string;
  let source: Source;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "installed by npm "));
    source = await startSource(folder, ["cdk"]);
  });
  afterAll(async () => {
    await source?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it("come from the package's file with only CDK beside them, run no script, and work", async () => {
    const project = join(folder, "cdk");
    const own = mkdtempSync(join(folder, "an app "));
    expect(readFileSync(join(project, "package.json"), "utf8")).not.toContain('"scripts"');
    writeFileSync(join(own, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await run(source, own, ["npm", "install", source.fileOf("cdk")]);
    const notes = readFileSync(join(own, "node_modules/.package-lock.json"), "utf8");
    expect(notes).not.toContain("hasInstallScript");
    const installed = Object.keys(JSON.parse(notes).packages).filter(
      (path) => path.lastIndexOf("node_modules") === 0,
    );
    expect(installed).toEqual(
      expect.arrayContaining(
        ["@income-events/cdk", "aws-cdk-lib", "constructs"].map((name) => `node_modules/${name}`),
      ),
    );
    expect(source.registry.unknown()).toEqual([]);

    writeFileSync(join(own, "app.js"), app);
    const outdir = join(own, "out");
    await run({ env: { ...source.env, CDK_OUTDIR: outdir } }, own, ["node", "app.js"]);
    expect(readFileSync(join(outdir, "Lending.template.json"), "utf8")).toContain("EventsWebhooksUrl");
    const words = ["npx", "--no", "--offline", "income-events", "--version"];
    expect(await run(source, own, words)).toBe("0.1.0\n");
  });

  it("are available in a checkout after npm ci: npx asks no registry for them", async () => {
    expect(await run(source, repository, ["npx", "income-events", "--version"])).toBe("0.1.0\n");
    expect(source.registry.unknown()).toEqual([]);
  });

  it("are there in a checkout with dev, which is the program of npm start", async () => {
    const dev = await run(source, repository, ["npx", "income-events", "dev", "--help"]);
    const start = await run(source, repository, ["npm", "--silent", "start", "--", "--help"]);
    const [, options = ""] = /^Options:\n([\s\S]*?)\n\n/m.exec(start) ?? [];
    expect(options).toContain("--console-port");
    expect(dev).toContain(options);
  });
});
