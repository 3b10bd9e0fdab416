import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { parts } from "../../scripts/check/parts.ts";

const execute = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const left = new Set(["node_modules", ".git", ".local", "cdk.out", "coverage"]);

/** What `npm run check` refuses: a mistake, planted by a replacement in a file, and the part that finds it. */
const planted = [
  {
    mistake: "an import upward",
    file: "domain/event/identify.ts",
    find: "import {",
    put: 'import "../../adapters/dynamodb/keys.ts";\nimport {',
    step: "lint",
    says: /domain\/event\/identify\.ts/,
  },
  {
    mistake: 'Resource: "*"',
    file: "lib/receiving/webhook-endpoint.ts",
    find: "[overflow.bodiesOf(kind)]",
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
    step: "docs",
    says: /account\.created: data\.datasourceId: is gone[\s\S]*make a new type instead/,
  },
  {
    mistake: "a document that is not what the code says",
    file: "domain/message/message-schemas.ts",
    find: "A user was created.",
    put: "A user came.",
    step: "docs",
    says: /docs\/guide\/events\.md: is stale; run npm run docs/,
  },
  {
    mistake: "a method that is gone, which apps rely on",
    file: "lib/construct/subscriber.ts",
    find: "  /** Lets somebody receive and delete the messages, and decrypt them. */",
    put: "  /** @internal */",
    step: "docs",
    says: /docs\/reference\/construct-api\.md: is stale; run npm run docs/,
  },
  {
    mistake: "an export that no app was promised",
    file: "lib/index.ts",
    find: "export { Subscriber }",
    put: 'export { nameInstance } from "./instance.ts";\nexport { Subscriber }',
    step: "docs",
    says: /docs\/reference\/construct-api\.md: is stale; run npm run docs/,
  },
  {
    mistake: "a type that does not fit",
    file: "domain/event/events.ts",
    find: 'export const webhookKinds = ["users",',
    put: 'export const webhookKinds = [5, "users",',
    step: "types",
    says: /TS\d+: /,
  },
  {
    mistake: "a type that does not fit in the console's page",
    file: "packages/console/page/app.tsx",
    find: "useState(false)",
    put: 'useState("no")',
    step: "page-types",
    says: /TS\d+: /,
  },
  {
    mistake: "an export that nothing uses",
    file: "domain/event/identify.ts",
    find: "import {",
    put: "export const unused = 1;\nimport {",
    step: "dead-code",
    says: /unused\s+domain\/event\/identify\.ts/,
  },
  {
    mistake: "a package that a workspace uses and does not declare",
    file: "packages/sandbox/package.json",
    find: '    "undici": "8.12.4"\n',
    put: '    "zod": "4.6.7"\n',
    step: "dead-code",
    says: /undici\s+packages\/sandbox/,
  },
  {
    mistake: "a licence that nobody allowed",
    file: "scripts/licences/main.ts",
    find: '  "MIT",\n',
    put: "",
    step: "licences",
    says: /its licence is MIT; choose another package/,
  },
  {
    mistake: "a copy of the contract in the subscriber's package that is not what the code says",
    file: "packages/subscriber/contract.ts",
    find: "readonly userId: string;",
    put: "readonly userId?: string;",
    step: "docs",
    says: /packages\/subscriber\/contract\.ts: is stale; run npm run docs/,
  },
  {
    mistake: "a statement of the provider's interface that no row speaks of",
    file: "docs/reference/sandbox-conformance.md",
    find: /^\|.*\.test\.ts.*\n/m,
    put: "",
    step: "conformance",
    says: /[1-9]\d* problems/,
  },
  {
    mistake: "a statement of the provider's interface whose test is skipped",
    file: "test/packages/sandbox/tokens.int.test.ts",
    find: 'test("a token is valid until its time is over"',
    put: 'test.skip("a token is valid until its time is over"',
    step: "conformance",
    says: /the test "a token is valid until its time is over" in tokens\.test\.ts did not pass \(skip\)/,
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

  const run = (...words: readonly string[]) =>
    execute("npm", ["run", "check", "--", ...words], {
      cwd: copy,
      env: { ...process.env, FORCE_COLOR: "0" },
    }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: unknown) => z.object({ code: z.number(), stdout: z.string() }).parse(error),
    );

  it.each(planted)("fails on $mistake, in its part $step", async ({ step, says, ...plant }) => {
    const file = join(copy, plant.file);
    const before = readFileSync(file, "utf8");
    const after = before.replace(plant.find, plant.put);
    expect(after).not.toBe(before);
    writeFileSync(file, after);
    const { code, stdout } = await run(step);
    expect(stdout).toMatch(says);
    expect(stdout).toMatch(new RegExp(`^FAILED ${step}: .+; again: npm run check -- ${step}$`, "m"));
    expect(stdout).toMatch(/check: 0 of 1 parts passed in [\d.]+ s\n$/);
    expect(code).toBe(1);
  });

  it("runs the parts that it is asked for, and says how long each took", async () => {
    const { code, stdout } = await run("licences", "lockfile");
    expect(stdout).toMatch(/^ok {5}licences \([\d.]+ s\)$/m);
    expect(stdout).toMatch(/check: 2 of 2 parts passed in [\d.]+ s\n$/);
    expect(code).toBe(0);
  });

  it("has each of these parts, and says so where it is asked for another", async () => {
    const names = parts.map(({ name }) => name);
    expect([...new Set([...planted.map(({ step }) => step), "layout"])].sort()).toEqual(names.sort());
    const { code, stdout } = await run("nonsense");
    for (const name of names) expect(stdout).toContain(name);
    expect(stdout).toContain("There is no part nonsense.");
    expect(code).toBe(2);
  });
});
