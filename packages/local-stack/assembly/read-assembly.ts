import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { UnrunnableAssemblyError } from "./problems.ts";
import { parseTemplate } from "./template.ts";

export type SynthesizedStack = ReturnType<typeof stackOf>;

const artifactSchema = z.object({
  type: z.string(),
  environment: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
});
const manifestSchema = z.object({ artifacts: z.record(z.string(), artifactSchema).default({}) });
type Artifact = z.infer<typeof artifactSchema>;

const assetManifestSchema = z.object({
  files: z
    .record(
      z.string(),
      z.object({
        source: z.object({ path: z.string().optional() }),
        destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
      }),
    )
    .default({}),
});

/**
 * Reads a cloud assembly directory (the output of `cdk synth`), including nested assemblies.
 * @param stackName required if the assembly holds several stacks
 * @throws UnrunnableAssemblyError if the directory, its manifest or the stack cannot be read
 */
export function readAssembly(directory: string, stackName?: string): SynthesizedStack {
  const stacks = stacksOf(directory, directory);
  const wanted = stackName === undefined ? stacks : stacks.filter((stack) => stack.name === stackName);
  const [stack] = wanted;
  if (stack === undefined || wanted.length > 1) {
    const names = stacks.map(({ name }) => name).join(", ");
    throw unreadable(
      directory,
      stackName ?? "manifest.json",
      `holds ${stacks.length === 0 ? "no stack" : `the stacks ${names}`}`,
      "Name the one to run, or synthesize it by itself.",
    );
  }
  return stack;
}

function stacksOf(directory: string, root: string): SynthesizedStack[] {
  const manifest = parseFile(root, join(directory, "manifest.json"), (value) => manifestSchema.parse(value));
  const artifacts = Object.entries(manifest.artifacts);
  const assets = new Map(
    artifacts
      .filter(([, { type }]) => type === "cdk:asset-manifest")
      .flatMap(([id, artifact]) => assetsOf(directory, root, id, artifact)),
  );
  const own = artifacts
    .filter(([, { type }]) => type === "aws:cloudformation:stack")
    .map(([id, artifact]) => stackOf({ directory, root }, id, artifact, assets));
  const nested = artifacts
    .filter(([, { type }]) => type === "cdk:cloud-assembly")
    .flatMap(([id, artifact]) =>
      stacksOf(join(directory, property(root, id, artifact, "directoryName")), root),
    );
  return [...own, ...nested];
}

function stackOf(
  { directory, root }: { readonly directory: string; readonly root: string },
  id: string,
  artifact: Artifact,
  assets: ReadonlyMap<string, string>,
) {
  const file = join(directory, property(root, id, artifact, "templateFile"));
  const { stackName } = artifact.properties;
  const region = /^aws:\/\/[^/]+\/([a-z0-9-]+)$/.exec(artifact.environment ?? "")?.[1];
  return {
    /** The assembly directory as given, for messages. */
    directory: root,
    name: typeof stackName === "string" ? stackName : id,
    /** Undefined if the stack is region-agnostic. */
    region: region === "unknown-region" ? undefined : region,
    template: parseFile(root, file, parseTemplate),
    /** Absolute path of each file asset (a directory if it is to be zipped), by S3 object key. */
    assets,
  };
}

function assetsOf(directory: string, root: string, id: string, artifact: Artifact): [string, string][] {
  const file = join(directory, property(root, id, artifact, "file"));
  const { files } = parseFile(root, file, (value) => assetManifestSchema.parse(value));
  return Object.values(files).flatMap(({ source, destinations }) => {
    const { path } = source;
    if (path === undefined) return [];
    return Object.values(destinations).map(({ objectKey }): [string, string] => [
      objectKey,
      resolve(directory, path),
    ]);
  });
}

function property(root: string, id: string, artifact: Artifact, name: string): string {
  const value = artifact.properties[name];
  if (typeof value === "string") return value;
  throw unreadable(root, id, `has no property ${name} in manifest.json`, "Synthesize the assembly again.");
}

function parseFile<T>(root: string, file: string, parse: (value: unknown) => T): T {
  if (!existsSync(file)) {
    throw unreadable(root, file, "is missing", "Point to a directory that cdk synth wrote.");
  }
  try {
    return parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw unreadable(root, file, `can't be read: ${reason}`, "Synthesize the assembly again.");
  }
}

function unreadable(root: string, logicalId: string, what: string, remedy: string): UnrunnableAssemblyError {
  return new UnrunnableAssemblyError(root, [{ logicalId, what, remedy }]);
}
