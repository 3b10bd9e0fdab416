import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { filesOf, readProject } from "@income-events/local-stack/synthesis/project.ts";
import { synthesize } from "@income-events/local-stack/synthesis/synthesize.ts";
import { afterAll, describe, expect, it } from "vitest";
import { bundleAll, entriesIn } from "../../lib/function/bundle.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const require = createRequire(import.meta.url);

describe("the stage local as npm start synthesizes it", () => {
  const directory = mkdtempSync(join(tmpdir(), "income-events-synthesis-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  it("is what cdk synth writes, to the byte of each template and bundle", async () => {
    const [ours, theirs] = [join(directory, "ours"), join(directory, "theirs")];
    await synthesize("local", ours, undefined, repository);
    const cdk = require.resolve("aws-cdk/bin/cdk");
    await run(process.execPath, [cdk, "synth", "--quiet", "-c", "stage=local", "-o", theirs], {
      cwd: repository,
    });
    const names = (path: string) =>
      readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
        .filter((name) => /^asset\.|\.(template|assets)\.json$/.test(name))
        .sort();
    expect(names(ours)).toEqual(names(theirs));
    for (const name of names(ours)) {
      expect(readFileSync(join(ours, name)).equals(readFileSync(join(theirs, name))), name).toBe(true);
    }
  });

  it("is synthesized anew after a change of any file that it is made of", async () => {
    const trace = join(directory, "trace.mjs");
    const loaded = join(directory, "loaded.txt");
    writeFileSync(
      trace,
      `import { appendFileSync } from "node:fs";
       import { registerHooks } from "node:module";
       registerHooks({ load(url, context, next) {
         appendFileSync(${JSON.stringify(loaded)}, url + "\\n");
         return next(url, context);
       } });`,
    );
    const env = {
      ...process.env,
      CDK_OUTDIR: join(directory, "traced"),
      CDK_CONTEXT_JSON: '{"stage":"local"}',
      CDK_VALIDATION: "false",
    };
    await run(process.execPath, ["--import", trace, "bin/income-events.ts"], { cwd: repository, env });
    const modules = readFileSync(loaded, "utf8")
      .split("\n")
      .filter((url) => url.startsWith(`file://${repository}/`))
      .map((url) => url.slice(`file://${repository}/`.length));
    const entries = entriesIn(repository);
    const bundled = [...(await bundleAll(repository, entries)).values()].flatMap(({ inputs }) => inputs);
    const known = new Set(filesOf(readProject(repository)));
    const own = [...modules, ...bundled, "stages/local.json", "package.json", "tsconfig.json"].filter(
      (file) => !file.startsWith("node_modules/"),
    );
    expect(entries.length).toBeGreaterThan(10);
    expect(own.length).toBeGreaterThan(150);
    expect(own.filter((file) => !known.has(file))).toEqual([]);
  });
});
