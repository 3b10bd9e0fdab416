import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fieldsOf } from "../../domain/core/parse.ts";
import { documents } from "./documents.ts";
import { incompatibilities } from "./incompatibilities.ts";

/** Files below a directory that are not what the code says. */
export function staleDocuments(root: string): readonly string[] {
  return documents.filter(({ file, text }) => textOf(join(root, file)) !== text()).map(({ file }) => file);
}

/** How the schemas of the code break those of a directory, which subscribers rely on. */
export function brokenPromises(root: string): readonly string[] {
  const directory = join(root, "docs", "reference", "schemas");
  const promised = existsSync(directory) ? readdirSync(directory) : [];
  return promised.flatMap((name) => {
    const type = basename(name, ".json");
    const document = documents.find(({ file }) => file === `docs/reference/schemas/${name}`);
    if (document === undefined) return [`${type}: is gone`];
    const before = fieldsOf(JSON.parse(textOf(join(directory, name)) ?? ""), name);
    const after = fieldsOf(JSON.parse(document.text()), name);
    return incompatibilities(before, after).map((problem) => `${type}: ${problem}`);
  });
}

/** Writes what is stale, and says which files. */
export function writeDocuments(root: string): readonly string[] {
  const stale = staleDocuments(root);
  for (const { file, text } of documents.filter(({ file }) => stale.includes(file))) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text());
  }
  return stale;
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
