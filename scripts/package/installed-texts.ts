import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { BuildOptions, Loader, Plugin } from "esbuild";

/** How what runs on a consumer's Node is bundled. */
export const forNode = {
  bundle: true,
  platform: "node",
  target: "node22",
  minify: true,
  // Names of classes are what CDK and errors show.
  keepNames: true,
  mainFields: ["module", "main"],
  logLevel: "warning",
  legalComments: "none",
  metafile: true,
} satisfies BuildOptions;

/**
 * What is typed to run the commands where the package is installed. Without `--no`, npx would run whatever a public registry
 * has under that name; without `--offline` it would ask for it.
 */
const installedCommand = "npx --no --offline income-events";

/** Sources say what is typed in a checkout; in a package they say what is typed where it is installed. */
export function asInstalled(text: string): string {
  return text
    .replaceAll("npx income-events", installedCommand)
    .replace(/\bnpm start( --)?(?![\w-])/g, `${installedCommand} dev`);
}

const loaders: Readonly<Record<string, Loader>> = { ".ts": "ts", ".tsx": "tsx" };

/** Bundles our sources with the texts of an installed package. @param changed what else is changed in a file */
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
