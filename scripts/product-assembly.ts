import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { synthesize } from "../lib/app.ts";
import { type Bundler, createBundler } from "../lib/function/bundle.ts";

const statement = z.looseObject({
  Action: z.union([z.string(), z.array(z.string())]),
});
const resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).optional(),
});
const template = z.looseObject({ Resources: z.record(z.string(), resource) });
const role = z.looseObject({
  Policies: z.array(z.looseObject({ PolicyDocument: z.looseObject({ Statement: z.array(statement) }) })),
});

const repository = join(import.meta.dirname, "..");

let bundler: Promise<Bundler> | undefined;

/** Stages differ only in their settings, so all of them share the bundles until the process exits. */
function sharedBundles(): Promise<Bundler> {
  bundler ??= createBundler(repository).then((made) => {
    process.once("exit", () => made[Symbol.dispose]());
    return { codeOf: made.codeOf, [Symbol.dispose]: () => undefined };
  });
  return bundler;
}

type Resource = z.output<typeof resource>;

/** The product's own stack, synthesized; tests can break copies of it. */
export type ProductAssembly = AsyncDisposable & {
  readonly directory: string;
  copy(): Promise<ProductAssembly>;
  /**
   * Changes the properties of the resources whose logical ids match.
   * @throws if none matches
   */
  change(logicalId: RegExp, how: (properties: Record<string, unknown>) => void): Promise<void>;
  /**
   * Removes an action from the role of a function, by logical id.
   * @throws if the role lacks the action
   */
  removeAction(roleId: RegExp, action: string): Promise<void>;
  /** Replaces the bundle of the function whose logical id matches by a source text. */
  replaceBundle(functionId: RegExp, source: string): Promise<void>;
};

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
  return productAssembly(directory);
}

/** Takes over the assembly in a directory. */
export function productAssembly(directory: string): ProductAssembly {
  const read = async (ending: string) => {
    const name = (await readdir(directory)).find((file) => file.endsWith(ending)) ?? "";
    const file = join(directory, name);
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    return { file, content };
  };
  const change: ProductAssembly["change"] = async (logicalId, how) => {
    const { file, content } = await read(".template.json");
    const parsed = template.parse(content);
    for (const { Properties = {} } of matching(parsed, logicalId)) how(Properties);
    await writeFile(file, JSON.stringify(parsed));
  };
  return {
    directory,
    copy: async () => {
      const target = await mkdtemp(join(tmpdir(), "product-"));
      await cp(directory, target, { recursive: true });
      return productAssembly(target);
    },
    change,
    removeAction: (roleId, action) =>
      change(roleId, (properties) => {
        let removed = 0;
        const { Policies } = role.parse(properties);
        for (const { PolicyDocument } of Policies) {
          PolicyDocument.Statement = PolicyDocument.Statement.flatMap((entry) => {
            const actions = [entry.Action].flat();
            const others = actions.filter((name) => name !== action);
            removed += actions.length - others.length;
            return others.length === 0 ? [] : [{ ...entry, Action: others }];
          });
        }
        if (removed === 0) throw new Error(`no statement of ${roleId} has ${action}`);
        properties.Policies = Policies;
      }),
    replaceBundle: async (functionId, source) => {
      const found = matching(template.parse((await read(".template.json")).content), functionId);
      const { Properties } = found.find(({ Type }) => Type === "AWS::Lambda::Function") ?? {};
      const key = code.parse(Properties).Code.S3Key.replace(/\.zip$/, "");
      const path = assets.parse((await read(".assets.json")).content).files[key]?.source.path;
      if (path === undefined) throw new Error(`no bundle of ${functionId}`);
      await writeFile(join(directory, path, "index.mjs"), source);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

const code = z.object({ Code: z.object({ S3Key: z.string() }) });
const assets = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

function matching({ Resources }: z.output<typeof template>, logicalId: RegExp): readonly Resource[] {
  const found = Object.entries(Resources).flatMap(([id, entry]) => (logicalId.test(id) ? [entry] : []));
  if (found.length === 0) throw new Error(`no resource matches ${logicalId}`);
  return found;
}
