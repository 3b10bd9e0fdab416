import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, type Source, startSource } from "../support/installed-app.ts";

const repository = join(import.meta.dirname, "../..");
describe("the commands and the construct, as npm installs them", () => {
  let source: Source;
  beforeAll(async () => {
    source = await startSource("installed by npm ", ["cdk"]);
  });
  afterAll(() => source?.[Symbol.asyncDispose]());

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
