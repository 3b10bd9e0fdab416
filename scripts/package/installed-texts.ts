import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { BuildOptions, Loader, Plugin } from "esbuild";

/** Bundler options for code that runs on a consumer's Node. */
export const forNode = {
  bundle: true,
  platform: "node",
  target: "node22",
  minify: true,
  // CDK and errors show the names of classes.
  keepNames: true,
  mainFields: ["module", "main"],
  logLevel: "warning",
  legalComments: "none",
  metafile: true,
} satisfies BuildOptions;

/**
 * Command of an installed package. Without `--no`, npx would run any package of that name in a public
 * registry; without `--offline` it would ask the registry.
 */
const installedCommand = "npx --no --offline income-events";

/** Replaces commands for a checkout by those of an installed package. */
export function asInstalled(text: string): string {
  return text
    .replaceAll("npx income-events", installedCommand)
    .replace(/\bnpm start( --)?(?![\w-])/g, `${installedCommand} dev`);
}

const loaders: Readonly<Record<string, Loader>> = { ".ts": "ts", ".tsx": "tsx" };

/**
 * Bundles our sources with the texts of an installed package.
 * @param changed further changes to a file
 */
export function installedTexts(changed: (path: string, text: string) => string = (_, text) => text): Plugin {
  return {
    name: "installed-texts",
    setup: ({ onLoad }) => {
      onLoad({ filter: /[\\/](cli|console|lib|domain|adapters)[\\/].*\.tsx?$/ }, ({ path }) => {
        if (path.includes("node_modules")) return undefined;
        const contents = changed(path, asInstalled(readFileSync(path, "utf8")));
        return { contents, loader: loaders[extname(path)] ?? "ts" };
      });
    },
  };
}
