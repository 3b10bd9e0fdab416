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

/** Stages differ in their settings alone: all that this process synthesizes share the bundles, which end with it. */
function sharedBundles(): Promise<Bundler> {
  bundler ??= createBundler(repository).then((made) => {
    process.once("exit", () => made[Symbol.dispose]());
    return { codeOf: made.codeOf, [Symbol.dispose]: () => undefined };
  });
  return bundler;
}

type Resource = z.output<typeof resource>;

/** The product's own stack, synthesized; copies of it can be changed as a careless hand would. */
export type ProductAssembly = AsyncDisposable & {
  readonly directory: string;
  copy(): Promise<ProductAssembly>;
  /** Changes the properties of the resources whose logical ids match. @throws where none does */
  change(logicalId: RegExp, how: (properties: Record<string, unknown>) => void): Promise<void>;
  /** Takes an action out of the role of a function, whose logical id matches. @throws where it is not there */
  removeAction(roleId: RegExp, action: string): Promise<void>;
  /** Puts a source text in the place of the bundle of the function whose logical id matches. */
  replaceBundle(functionId: RegExp, source: string): Promise<void>;
};

/** @param changes settings in the place of the stage's, group by group; a stage without a file is as `local` is */
export async function synthesizeProduct(stage = "local", changes: object = {}): Promise<ProductAssembly> {
  const directory = await mkdtemp(join(tmpdir(), "product-"));
  const file = (name: string) => join(repository, "stages", `${name}.json`);
  const known: unknown = JSON.parse(await readFile(file(existsSync(file(stage)) ? stage : "local"), "utf8"));
  const settings = join(directory, "settings.json");
  await writeFile(settings, JSON.stringify({ ...Object(known), ...changes }));
  // The template is the same without CDK's checks, which `npm run check` runs.
  const context = { stage, settings };
  await synthesize({ outdir: directory, context, builtinCloudFormationValidation: false }, sharedBundles);
  return productAssembly(directory);
}

/** An assembly that lies in a directory, which it takes over. */
export function productAssembly(directory: string): ProductAssembly {
  const edit = async (change: (resources: [string, Resource][]) => void) => {
    const name = (await readdir(directory)).find((file) => file.endsWith(".template.json")) ?? "";
    const file = join(directory, name);
    const content = template.parse(JSON.parse(await readFile(file, "utf8")));
    change(Object.entries(content.Resources));
    await writeFile(file, JSON.stringify(content));
  };
  const change: ProductAssembly["change"] = (logicalId, how) =>
    edit((resources) => {
      for (const { Properties = {} } of matching(resources, logicalId)) how(Properties);
    });
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
      const { assets } = await readAssets(directory);
      let key = "";
      await edit((resources) => {
        for (const { Type, Properties } of matching(resources, functionId)) {
          if (Type === "AWS::Lambda::Function") {
            key = z.object({ Code: z.object({ S3Key: z.string() }) }).parse(Properties).Code.S3Key;
          }
        }
      });
      const path = assets.get(key.replace(/\.zip$/, ""));
      if (path === undefined) throw new Error(`no bundle of ${functionId}`);
      await writeFile(join(directory, path, "index.mjs"), source);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

function matching(resources: readonly [string, Resource][], logicalId: RegExp): readonly Resource[] {
  const found = resources.filter(([id]) => logicalId.test(id)).map(([, entry]) => entry);
  if (found.length === 0) throw new Error(`no resource matches ${logicalId}`);
  return found;
}

const assetManifest = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

async function readAssets(directory: string) {
  const name = (await readdir(directory)).find((file) => file.endsWith(".assets.json")) ?? "";
  const { files } = assetManifest.parse(JSON.parse(await readFile(join(directory, name), "utf8")));
  return { assets: new Map(Object.entries(files).map(([hash, { source }]) => [hash, source.path])) };
}
