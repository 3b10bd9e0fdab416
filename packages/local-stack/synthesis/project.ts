import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const globs = z.union([z.string(), z.array(z.string())]).transform((each) => [each].flat());
const cdkJson = z.looseObject({
  app: z.string(),
  context: z.record(z.string(), z.unknown()).default({}),
  watch: z.looseObject({ include: globs.optional(), exclude: globs.default([]) }).optional(),
});

/** What `cdk.json` says of a CDK app. */
export type Project = {
  readonly directory: string;
  /** The command that writes the assembly. */
  readonly app: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** Patterns of the files that a synthesis reads, those that are left out too; undefined where nothing names them. */
  readonly watch: { readonly include: readonly string[]; readonly exclude: readonly string[] } | undefined;
};

/** @throws where the directory holds no `cdk.json` that names an app */
export function readProject(directory: string): Project {
  const file = join(directory, "cdk.json");
  try {
    const { app, context, watch } = cdkJson.parse(JSON.parse(readFileSync(file, "utf8")));
    const { include, exclude = [] } = watch ?? {};
    return { directory, app, context, watch: include && { include, exclude } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} does not say how to synthesize the stack (app): ${reason}`);
  }
}
