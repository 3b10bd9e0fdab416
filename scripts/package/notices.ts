import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, optionalText, textOf } from "../../domain/core/parse.ts";

/** The licences of the packages that something is bundled of, each with its text. @param inputs relative to the repository */
export function notices(repository: string, inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((file) => /^(?:.*node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  return [...folders]
    .toSorted()
    .map((folder) => noticeOf(join(repository, folder)))
    .join(`\n${"-".repeat(80)}\n`);
}

function noticeOf(folder: string): string {
  const manifest = fieldsOf(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), folder);
  const texts = globSync("{LICENSE,LICENCE,NOTICE}*", { cwd: folder }).toSorted();
  const name = `${textOf(manifest, "name")} ${textOf(manifest, "version")} (${optionalText(manifest, "license") ?? "see below"})`;
  return [name, ...texts.map((file) => readFileSync(join(folder, file), "utf8"))].join("\n\n");
}
