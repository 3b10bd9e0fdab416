import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCommands } from "../../scripts/package/commands.ts";
import { productionSettings } from "../lib/synthesized.ts";
import { allowing, json, xml } from "../packages/cli/preflight/wire-answers.ts";
import { startWireAws } from "../support/wire-aws.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const module = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/** Globals of Node 24 that Node 22 lacks. */
const newer = ["AsyncDisposableStack", "DisposableStack", "Float16Array", "SuppressedError", "URLPattern"];
const asNode22 = module(`
for (const name of ${JSON.stringify(newer)}) delete globalThis[name];
delete RegExp.escape;
delete Error.isError;
delete Math.f16round;
delete Promise.try;
delete Atomics.pause;
`);
const asNode20 = module(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })',
);

describe("the commands of the package on another Node than the repository's", () => {
  let folder: string;
  let commands: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "commands of the package "));
    mkdirSync(join(folder, "dist"));
    mkdirSync(join(folder, "stages"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ version: "0.1.0" }));
    await buildCommands(repository, join(folder, "dist"));
    commands = join(folder, "dist/income-events.mjs");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (as: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(process.execPath, ["--import", as, commands, ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...env },
    });

  it("run with what Node 22 has: preflight looks at the account, down to the policy of its key", async () => {
    await using aws = await startWireAws();
    aws.answers
      .set("GetCallerIdentity", xml("GetCallerIdentity", "<Account>123456789012</Account>"))
      .set("DescribeKey", json({ KeyMetadata: { KeyState: "Enabled", KeySpec: "SYMMETRIC_DEFAULT" } }))
      .set("GetKeyPolicy", allowing("logs.eu-central-1.amazonaws.com", "cloudwatch.amazonaws.com"));
    const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
    writeFileSync(
      join(folder, "stages/prod.json"),
      JSON.stringify({ ...productionSettings, encryption: { keyArn } }),
    );
    const env = {
      AWS_ENDPOINT_URL: aws.url,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "any",
      AWS_SECRET_ACCESS_KEY: "any",
      AWS_MAX_ATTEMPTS: "1",
    };
    const looked = start(asNode22, ["preflight", "--json"], env).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    );
    const { stdout, stderr } = await looked;
    expect(stderr).not.toMatch(/is not (a function|defined)/);
    const { account, checked } = JSON.parse(stdout);
    expect(account).toBe("123456789012");
    expect(checked.join()).toContain("key");
  });

  it("say on an older Node which one they need, and do nothing", async () => {
    await expect(start(asNode20, ["status"])).rejects.toThrow(
      "income-events needs Node 22 or later; this is v",
    );
  });
});
