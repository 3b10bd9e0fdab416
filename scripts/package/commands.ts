import { cpSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { bundlePage } from "../../packages/console/page-bundle.ts";
import { asInstalled, forNode, installedTexts } from "./installed-texts.ts";

const pageFile = "console-page.json";

/**
 * Bundles the commands in one file, with lazily loaded modules included but run on demand.
 * @returns the inputs
 */
export async function buildCommands(repository: string, dist: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...forNode,
    absWorkingDir: repository,
    entryPoints: [join(repository, "packages/cli/main.ts")],
    outfile: join(dist, "cli.mjs"),
    format: "esm",
    banner: {
      js: 'import { createRequire as requireOfPackage } from "node:module"; const require = requireOfPackage(import.meta.url);',
    },
    plugins: [installedTexts(withPrebuilt)],
  });
  writeFileSync(join(dist, pageFile), await consolePage());
  const template = join(dist, "template");
  cpSync(join(repository, "examples/minimal"), template, { recursive: true, filter: isOfTemplate });
  // npm leaves `.gitignore` out of packages.
  renameSync(join(template, ".gitignore"), join(template, "gitignore"));
  cpSync(join(import.meta.dirname, "income-events.mjs"), join(dist, "income-events.mjs"));
  return Object.keys(metafile.inputs);
}

/** Whether a file belongs to the template rather than to its use here. */
function isOfTemplate(path: string): boolean {
  return !/[\\/](node_modules|cdk\.out|\.local|package-lock\.json)$/.test(path);
}

function withPrebuilt(path: string, text: string): string {
  if (/cli[\\/]core[\\/]clients\.ts$/.test(path)) return withClients(text);
  if (/console[\\/]page-bundle\.ts$/.test(path)) return readsPage;
  return text;
}

/** Adds the clients that the commands load by name. */
function withClients(text: string): string {
  const names = new Set([...text.matchAll(/load\("([^"]+)"\)/g)].map(([, name = ""]) => name));
  const loaders = [...names].map((name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(name)})`);
  return text.replace(
    "createRequire(import.meta.url)",
    `((name) => ({ ${loaders.join(", ")} })[name]()) as never`,
  );
}

/** Replaces the module that bundles the console's page from sources that the package lacks. */
const readsPage = `
import { readFileSync } from "node:fs";
import { join } from "node:path";
export async function bundlePage() {
  return new Map(JSON.parse(readFileSync(join(import.meta.dirname, "${pageFile}"), "utf8")));
}
`;

async function consolePage(): Promise<string> {
  const files = [...(await bundlePage())].map(([address, { type, content }]) => {
    const text = typeof content === "string" ? content : Buffer.from(content).toString();
    return [address, { type, content: asInstalled(text) }];
  });
  return JSON.stringify(files);
}
