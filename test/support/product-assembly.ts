import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { synthesize } from "../../lib/app.ts";
import { type Bundler, createBundler } from "../../lib/function/bundle.ts";

const resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).optional(),
});
const template = z.looseObject({ Resources: z.record(z.string(), resource) });
const code = z.object({ Code: z.object({ S3Key: z.string() }) });
const assets = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

const repository = join(import.meta.dirname, "../..");

let bundler: Promise<Bundler> | undefined;

/** Stages differ only in their settings, so all of them share the bundles until the process exits. */
function sharedBundles(): Promise<Bundler> {
  bundler ??= createBundler(repository).then((made) => {
    process.once("exit", () => made[Symbol.dispose]());
    return { codeOf: made.codeOf, [Symbol.dispose]: () => undefined };
  });
  return bundler;
}

/**
 * @param changes settings that replace the stage's, by group; a stage without a file uses the settings of
 * `local`
 */
export async function synthesizeProduct(stage = "local", changes: object = {}): Promise<ProductAssembly> {
  const directory = await mkdtemp(join(tmpdir(), "product-"));
  const file = (name: string) => join(repository, "stages", `${name}.json`);
  const known: unknown = JSON.parse(await readFile(file(existsSync(file(stage)) ? stage : "local"), "utf8"));
  const settings = join(directory, "settings.json");
  await writeFile(settings, JSON.stringify({ ...Object(known), ...changes }));
  // The template is the same without CDK's checks, which `npm run check` runs, tree and stack traces.
  const context = { stage, settings, "aws:cdk:disable-stack-trace": true };
  const quick = { builtinCloudFormationValidation: false, treeMetadata: false };
  await synthesize({ outdir: directory, context, ...quick }, sharedBundles);
  return new ProductAssembly(directory);
}

/** The product's own stack, synthesized; tests can break copies of it. */
export class ProductAssembly implements AsyncDisposable {
  readonly directory: string;

  /** Takes over the assembly in a directory. */
  constructor(directory: string) {
    this.directory = directory;
  }

  async copy(): Promise<ProductAssembly> {
    const target = await mkdtemp(join(tmpdir(), "product-"));
    await cp(this.directory, target, { recursive: true });
    return new ProductAssembly(target);
  }

  /**
   * Changes the properties of the resources whose logical ids match.
   * @throws if none matches
   */
  async change(logicalId: RegExp, how: (properties: Record<string, unknown>) => void): Promise<void> {
    const { file, content } = await this.#read(".template.json");
    const parsed = template.parse(content);
    for (const { Properties = {} } of matching(parsed, logicalId)) how(Properties);
    await writeFile(file, JSON.stringify(parsed));
  }

  /** Replaces the bundle of the function whose logical id matches by a source text. */
  async replaceBundle(functionId: RegExp, source: string): Promise<void> {
    const found = matching(template.parse((await this.#read(".template.json")).content), functionId);
    const { Properties } = found.find(({ Type }) => Type === "AWS::Lambda::Function") ?? {};
    const key = code.parse(Properties).Code.S3Key.replace(/\.zip$/, "");
    const path = assets.parse((await this.#read(".assets.json")).content).files[key]?.source.path;
    if (path === undefined) throw new Error(`no bundle of ${functionId}`);
    await writeFile(join(this.directory, path, "index.mjs"), source);
  }

  async #read(ending: string) {
    const name = (await readdir(this.directory)).find((file) => file.endsWith(ending)) ?? "";
    const file = join(this.directory, name);
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    return { file, content };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

function matching({ Resources }: z.output<typeof template>, logicalId: RegExp) {
  const found = Object.entries(Resources).flatMap(([id, entry]) => (logicalId.test(id) ? [entry] : []));
  if (found.length === 0) throw new Error(`no resource matches ${logicalId}`);
  return found;
}
