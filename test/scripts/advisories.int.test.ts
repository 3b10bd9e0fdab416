import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { affects, parseAdvisory } from "../../scripts/advisories/advisory.ts";
import { readAudit } from "../../scripts/advisories/audit.ts";
import { readLockfile } from "../../scripts/lockfile/lockfile.ts";

const run = promisify(execFile);
const script = join(import.meta.dirname, "../../scripts/advisories/main.ts");

const advisory = (name: string, events: readonly object[], more: object = {}) =>
  parseAdvisory({
    id: "TEST-1",
    summary: "a test",
    affected: [{ package: { ecosystem: "npm", name }, ranges: [{ type: "SEMVER", events }] }],
    ...more,
  });

describe("an advisory", () => {
  const twoSpans = [
    { introduced: "1.2.0" },
    { fixed: "1.4.0" },
    { introduced: "2.0.0-beta.2" },
    { last_affected: "2.1.3" },
  ];
  it.each([
    ["1.1.9", false],
    ["1.2.0", true],
    ["1.3.99", true],
    ["1.4.0", false],
    ["2.0.0-beta.1", false],
    ["2.0.0-beta.11", true],
    ["10.0.0", false],
    ["2.1.3", true],
    ["2.1.4", false],
  ])("is about the versions between its events: %s %s", (version, isAffected) => {
    expect(affects(advisory("a", twoSpans), { name: "a", version })).toBe(isAffected);
  });

  it("is about its package alone, of npm alone, and about none where it was withdrawn", () => {
    const all = [{ introduced: "0" }];
    expect(affects(advisory("a", all), { name: "b", version: "1.0.0" })).toBe(false);
    const elsewhere = { affected: [{ package: { ecosystem: "PyPI", name: "a" }, versions: ["1.0.0"] }] };
    expect(affects(advisory("a", all, elsewhere), { name: "a", version: "1.0.0" })).toBe(false);
    const withdrawn = advisory("a", all, { withdrawn: "2026-01-01T00:00:00Z" });
    expect(affects(withdrawn, { name: "a", version: "1.0.0" })).toBe(false);
    expect(affects(advisory("a", all), { name: "a", version: "1.0.0" })).toBe(true);
    expect(affects(advisory("a", all), { name: "a", version: "0.0.0-alpha" })).toBe(true);
  });
});

describe("the registry's answer", () => {
  it("names what it knows, or says why it knows nothing", () => {
    const reported = { vulnerabilities: { a: { severity: "high", range: "<2", isDirect: true } } };
    expect(readAudit(JSON.stringify(reported))).toEqual({ answered: true, lines: ["a <2: high"] });
    expect(readAudit('{"message":"405 Method Not Allowed"}')).toEqual({
      answered: false,
      why: "405 Method Not Allowed",
    });
    expect(readAudit("")).toEqual({ answered: false, why: "it gave no answer" });
  });
});

describe("npm run proof -- advisories", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "advisories-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const look = () => run(process.execPath, [script, "--database", directory]);

  it("looks, offline, for what is locked in a folder of advisories", async () => {
    await expect(look()).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("has no advisory"),
    });
    const version = readLockfile().lock.packages["node_modules/undici"]?.version ?? "";
    const write = (name: string, fixed: string) =>
      writeFileSync(
        join(directory, `${name}.json`),
        JSON.stringify(advisory("undici", [{ introduced: "0" }, { fixed }])),
      );
    write("old", version);
    expect((await look()).stdout).toBe(`advisories: 0 found, by 1 advisories in ${directory}\n`);
    write("new", "999.0.0");
    await expect(look()).rejects.toMatchObject({ code: 1, stderr: `undici ${version}: TEST-1 a test\n` });
  });
});
