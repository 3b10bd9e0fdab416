import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const left = new Set(["node_modules", ".git", ".local", "cdk.out", "coverage"]);

/** What `npm run check` refuses: a mistake, planted by a replacement in a file, and the step that finds it. */
const planted = [
  {
    mistake: "an import upward",
    file: "domain/event/identify.ts",
    find: "import {",
    put: 'import "../adapters/keys.ts";\nimport {',
    step: "lint",
    says: /domain\/identify\.ts/,
  },
  {
    mistake: 'Resource: "*"',
    file: "lib/receiving/webhook-kind.ts",
    find: "[overflow.bodies]",
    put: '["*"]',
    step: "synth",
    says: /s3:PutObject on \*: name one resource, or list the wildcard with its reason/,
  },
  {
    mistake: "an acknowledgement without a reason",
    file: "lib/acknowledgements.ts",
    find: /reason:\s*"[^"]+"/,
    put: 'reason: ""',
    step: "synth",
    says: /needs a reason of a sentence/,
  },
  {
    mistake: "a renamed table",
    file: "lib/storage/event-table.ts",
    find: 'this, "Table", {',
    put: 'this, "Table", { tableName: "renamed",',
    step: "baseline",
    says: /would be replaced/,
  },
  {
    mistake: "a package whose version is left open",
    file: "package.json",
    find: '"zod": "',
    put: '"zod": "^',
    step: "lockfile",
    says: /zod is asked for as \^[\d.]+; write the exact version/,
  },
  {
    mistake: "a field of messages that is gone, which subscribers rely on",
    file: "domain/message/message-schemas.ts",
    find: "{ ...known, reconciled }",
    put: "{ connected, userId, reconciled }",
    step: "docs:check",
    says: /account\.created: data\.datasourceId: is gone[\s\S]*make a new type instead/,
  },
  {
    mistake: "a document that is not what the code says",
    file: "domain/message/message-schemas.ts",
    find: "A user was created.",
    put: "A user came.",
    step: "docs:check",
    says: /docs\/guide\/events\.md: is stale; run npm run docs/,
  },
] as const;

describe("npm run check", () => {
  let copy: string;

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), "income-events-check-"));
    cpSync(repository, copy, {
      recursive: true,
      filter: (path) => !left.has(path.slice(repository.length + 1)),
    });
    symlinkSync(join(repository, "node_modules"), join(copy, "node_modules"));
  });
  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  const step = (name: string) =>
    run("npm", ["run", name], { cwd: copy, env: { ...process.env, FORCE_COLOR: "0" } });

  it.each(planted)("fails on $mistake, in its step $step", async (plant) => {
    const { check } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(repository, "package.json"), "utf8"))).scripts;
    expect(check?.split(" && ")).toContain(`npm run ${plant.step}`);
    const file = join(copy, plant.file);
    const before = readFileSync(file, "utf8");
    const after = before.replace(plant.find, plant.put);
    expect(after).not.toBe(before);
    writeFileSync(file, after);
    const failed = await step(plant.step).then(
      () => undefined,
      (error: unknown) => z.object({ stdout: z.string(), stderr: z.string() }).parse(error),
    );
    expect(failed, "the step passed").toBeDefined();
    expect(`${failed?.stdout}${failed?.stderr}`).toMatch(plant.says);
  });
});
