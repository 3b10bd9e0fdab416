import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

export type PageFile = { readonly type: string; readonly content: string | Uint8Array };

const folder = join(import.meta.dirname, "page");

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Console</title>
    <link rel="icon" href="/assets/icon.svg">
    <link rel="stylesheet" href="/assets/page.css">
    <script type="module" src="/assets/page.js"></script>
  </head>
  <body>
    <div id="page"><p class="starting">The console starts…</p></div>
  </body>
</html>
`;

/** Bundles the page from its sources; it loads nothing from elsewhere. */
export async function bundlePage(): Promise<ReadonlyMap<string, PageFile>> {
  const { outputFiles } = await build({
    entryPoints: [{ in: join(folder, "main.tsx"), out: "page" }],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    outdir: "assets",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "silent",
  });
  const files = outputFiles.map(({ path, contents }): [string, PageFile] =>
    path.endsWith(".css")
      ? ["/assets/page.css", { type: "text/css; charset=utf-8", content: contents }]
      : ["/assets/page.js", { type: "text/javascript; charset=utf-8", content: contents }],
  );
  const icon = { type: "image/svg+xml", content: readFileSync(join(folder, "icon.svg")) };
  return new Map([
    ["/", { type: "text/html; charset=utf-8", content: html }],
    ["/assets/icon.svg", icon],
    ...files,
  ]);
}
