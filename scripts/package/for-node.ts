import type { BuildOptions } from "esbuild";

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
