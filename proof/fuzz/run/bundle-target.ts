import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Target } from "../target.ts";
import { reportDescriptor } from "./watch.ts";

/** Commands find the stages' settings from where they are themselves. */
const ofCommands = join(import.meta.dirname, "../../../packages/cli/commands");

/** Packages that stay outside, unless a target looks into them: their size would slow its start. */
const packages = ["@aws-sdk/*", "@smithy/*", "cli-table3", "commander", "zod"];

/**
 * Puts a target and all of our code that it reaches into one CommonJS file: Jazzer's instrumentation reads neither
 * TypeScript nor modules that Node has stripped of types itself.
 * @param file the target's module, which exports `target`
 * @param inputs how many it will be given
 */
export async function bundleTarget(
  file: string,
  { looksInto = [], loads }: Pick<Target, "looksInto" | "loads">,
  inputs: number,
  outfile: string,
): Promise<void> {
  const loaded = loads === undefined ? [] : globSync(join(loads, "*.ts"));
  await build({
    stdin: {
      contents: [
        ...loaded.map((module) => `import ${JSON.stringify(module)};`),
        `import { target } from ${JSON.stringify(file)};`,
        'import { watched } from "./watch.ts";',
        `export const fuzz = watched(target, ${inputs}, ${reportDescriptor});`,
      ].join("\n"),
      resolveDir: import.meta.dirname,
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node24",
    external: packages.filter((name) => !looksInto.includes(name)),
    outfile,
    sourcemap: "inline",
    define: {
      "import.meta.filename": JSON.stringify(join(ofCommands, "command.ts")),
      "import.meta.dirname": JSON.stringify(ofCommands),
      "import.meta.url": JSON.stringify(pathToFileURL(join(ofCommands, "command.ts")).href),
    },
    logLevel: "warning",
  });
}
