import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { type Bundle, bundle, bundleAll, createBundler } from "../../../lib/function/bundle.ts";
import type { WrittenCode } from "../../../lib/function/code-files.ts";

const repository = join(import.meta.dirname, "../../..");
const entries = [
  "functions/receive/webhooks.ts",
  "functions/store/events.ts",
  "functions/relay/changes.ts",
  "functions/fetch/data.ts",
  "functions/readiness/deadlines.ts",
  "functions/canary/events.ts",
  "functions/read/documents.ts",
  "functions/refresh/token.ts",
  "functions/register/webhooks.ts",
  "functions/reconcile/users.ts",
  "functions/archive/dead-letters.ts",
];

function codeOf({ files }: Bundle, name = "index.mjs"): string {
  const contents = files.get(name);
  if (contents === undefined) throw new Error(`the bundle has no ${name}`);
  return Buffer.from(contents).toString("utf8");
}

const atStart = ["index.mjs"];

/** Files that Node loads on demand. */
function filesLater({ files }: Bundle): string[] {
  return [...files.keys()].filter((name) => name.startsWith("lazy/") && name.endsWith(".mjs"));
}

function kilobytes(
  built: Bundle,
  names: readonly string[],
  measure: (code: string) => number = Buffer.byteLength,
): number {
  return Math.round(names.reduce((sum, name) => sum + measure(codeOf(built, name)), 0) / 1024);
}

const bundles = await bundleAll(repository, entries);

describe("the bundle of each function", () => {
  it.each([...bundles])("is ESM with a handler and everything that it imports: %s", (_, built) => {
    expect(codeOf(built)).toMatch(/export\{[^}]*\bas handler\b/);
    const packages = [...built.files]
      .filter(([name]) => name.endsWith(".mjs"))
      .flatMap(([, contents]) => [
        ...Buffer.from(contents)
          .toString()
          .matchAll(/[}*\s]from"([^"]+)"/g),
      ])
      .map(([, name = ""]) => name)
      .filter((name) => !name.startsWith("./"));
    const builtIns = new Set(process.getBuiltinModule("node:module").builtinModules);
    expect(packages.filter((name) => !builtIns.has(name.replace(/^node:/, "")))).toEqual([]);
  });

  it.each([...bundles])("holds nothing of the stack, its schema or the local runner: %s", (_, { inputs }) => {
    const foreign =
      /^domain\/message\/message-schemas\.ts|node_modules\/(aws-cdk-lib|constructs|zod|esbuild|fauxqs)\/|^(lib|packages|proof|tools|test)\//;
    expect(inputs.filter((input) => foreign.test(input))).toEqual([]);
  });

  it.each([...bundles].filter(([entry]) => /receive|store|fetch/.test(entry)))(
    "loads the client of S3 only when it is needed: %s",
    (_, built) => {
      const holdsS3 = (name: string) => codeOf(built, name).includes("x-id=PutObject");
      expect(filesLater(built).some(holdsS3)).toBe(true);
      expect(atStart.filter((name) => holdsS3(name))).toEqual([]);
    },
  );

  it.each([...bundles])("holds no client of Lambda: %s", (_, { inputs }) => {
    expect(inputs.filter((input) => input.includes("@aws-sdk/client-lambda"))).toEqual([]);
  });

  it("leaves out the operations of AWS that no function uses", () => {
    for (const [entry, built] of bundles) {
      const code = [...atStart, ...filesLater(built)].map((name) => codeOf(built, name)).join("");
      expect(code, entry).not.toMatch(/PutBucketWebsite|ListLayerVersions|ListDeadLetterSourceQueues/);
      expect(code.includes("x-id=GetObject"), entry).toBe(code.includes("x-id=PutObject"));
    }
  });

  it("is small: at most 125 KB of code at start, compressed", () => {
    const sizes = [...bundles].map(([entry, built]) => {
      const compressed = kilobytes(built, atStart, (code) => gzipSync(code).byteLength);
      return {
        entry,
        compressed,
        plain: kilobytes(built, atStart),
        later: kilobytes(built, filesLater(built)),
      };
    });
    const lines = sizes.map(
      ({ entry, plain, compressed, later }) =>
        `${entry}: ${plain} KB at start (${compressed} compressed), ${later} KB when needed`,
    );
    process.stdout.write(`${lines.join("\n")}\n`);
    expect(sizes.filter(({ compressed }) => compressed > 125)).toEqual([]);
  });
});

describe("bundling", () => {
  const directory = mkdtempSync(join(tmpdir(), "income-events-bundle-test-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  /** A repository with one function, in a new directory. */
  function repositoryWith(name: string, files: Readonly<Record<string, string>>): string {
    const root = join(directory, name);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return root;
  }

  const files = {
    "functions/a.ts": 'export const handler = async (): Promise<unknown> => import("#lazy/large");',
    "adapters/lazy/large.ts": 'export const large = "large thing";',
  };

  it("produces the same bytes in any repository path", async () => {
    const here = await bundle(repositoryWith("here", files), "functions/a.ts");
    const there = await bundle(repositoryWith("deep/down/there", files), "functions/a.ts");
    expect(there).toEqual(here);
  });

  it("puts lazily imported code into a separate file, which is found when it is needed", async () => {
    const root = repositoryWith("lazy", files);
    expect(codeOf(await bundle(root, "functions/a.ts"))).not.toContain("large thing");
    using bundler = await createBundler(root);
    const { directory } = bundler.codeOf("functions/a.ts", {}, "a");
    const { handler } = await import(join(directory, "index.mjs"));
    expect(await handler()).toMatchObject({ large: "large thing" });
  });

  it("gives in one build of all functions the bytes of a build of each", async () => {
    const root = repositoryWith("several", {
      ...files,
      "functions/b/c.ts": "export const handler = () => process.env.TZ;",
    });
    using bundler = await createBundler(root);
    for (const entry of ["functions/a.ts", "functions/b/c.ts"]) {
      const { directory } = bundler.codeOf(entry, {}, entry);
      for (const [name, contents] of (await bundle(root, entry)).files) {
        expect(readFileSync(join(directory, name), "utf8")).toBe(Buffer.from(contents).toString());
      }
    }
  });

  it("gives functions that share an entry file settings of their own", async () => {
    using bundler = await createBundler(repositoryWith("shared", files));
    const settingsOf = ({ directory }: WrittenCode) =>
      JSON.parse(readFileSync(join(directory, "settings.json"), "utf8"));
    const written = ["b/one", "b/two"].map((name) => bundler.codeOf("functions/a.ts", { name }, name));
    expect(written.map(settingsOf)).toEqual([{ name: "b/one" }, { name: "b/two" }]);
  });

  it("gives code a digest that changes with a byte of code or settings, and with nothing else", async () => {
    const digestOf = async (name: string, text: string, settings: object) => {
      using bundler = await createBundler(repositoryWith(name, { ...files, "functions/a.ts": text }));
      return bundler.codeOf("functions/a.ts", settings, "a").digest;
    };
    const text = files["functions/a.ts"];
    const digest = await digestOf("digest-a", text, { a: 1 });
    expect(await digestOf("digest-b", text, { a: 1 })).toBe(digest);
    expect(await digestOf("digest-c", text, { a: 2 })).not.toBe(digest);
    expect(await digestOf("digest-d", `${text} export const other = 1;`, { a: 1 })).not.toBe(digest);
  });

  it("refuses to give code of a file that exports no handler", async () => {
    using bundler = await createBundler(repositoryWith("no-handler", { ...files, "functions/b.ts": "" }));
    expect(() => bundler.codeOf("functions/b.ts", {}, "b")).toThrow("functions/b.ts exports no handler");
  });

  it("refuses CommonJS code that asks for Node's own modules: as ESM it could not", async () => {
    const root = repositoryWith("commonjs", {
      "functions/a.ts": 'import "./common.cjs";',
      "functions/common.cjs": 'module.exports = require("node:fs");',
    });
    await expect(bundle(root, "functions/a.ts")).rejects.toThrow(
      "functions/a.ts: CommonJS code requires node:fs",
    );
  });

  it("puts settings beside the code, and removes both afterwards", async () => {
    const root = repositoryWith("settings", files);
    let place = "";
    {
      using bundler = await createBundler(root);
      place = bundler.codeOf("functions/a.ts", { a: 1 }, "a").directory;
      expect(JSON.parse(readFileSync(join(place, "settings.json"), "utf8"))).toEqual({ a: 1 });
      expect(existsSync(join(place, "index.mjs"))).toBe(true);
    }
    expect(existsSync(place)).toBe(false);
  });
});
