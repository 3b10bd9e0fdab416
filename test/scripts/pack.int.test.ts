import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../support/program.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

describe("the packages of the sandbox and the local stack", () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "income-events-pack-"));
    symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
    await run(process.execPath, [
      join(repository, "scripts/pack.ts"),
      "sandbox",
      "local-stack",
      "--to",
      folder,
    ]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("hold JavaScript, which runs where Node strips no types: the sandbox prints its addresses", async () => {
    await using sandbox = runProgram(join(folder, "sandbox/dist/main.js"), ["--users", "1"]);
    const addresses = JSON.parse(await sandbox.printed(/^\{.*\}$/));
    expect(addresses.sandbox.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("hold JavaScript, which runs where Node strips no types: the local stack says its options", async () => {
    const { stdout } = await run(process.execPath, [join(folder, "local-stack/dist/start.js"), "--help"]);
    expect(stdout).toContain("--once");
  });

  it.each(["sandbox", "local-stack"])("export what was compiled, and run no script: %s", (name) => {
    const { exports, scripts } = JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"));
    expect(exports).toEqual({ "./*.ts": { types: "./dist/*.d.ts", default: "./dist/*.js" } });
    expect(scripts).toBeUndefined();
    // The installed package lacks a checkout's commands.
    const wrong = globSync([`${name}/dist/**/*.js`, "local-stack/README.md"], { cwd: folder }).filter(
      (file) =>
        /npx income-events|npm start|npm run \w|\]\(\.\.\//.test(readFileSync(join(folder, file), "utf8")),
    );
    expect(wrong).toEqual([]);
  });
});
