import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldsOf, parseJson } from "../../domain/core/parse.ts";
import type { Samples } from "./samples.ts";

const directory = join(import.meta.dirname, "../samples");

/** Samples of a release, by their sort. */
export type ReleaseSamples = Readonly<Record<string, Samples>>;

export async function readSamples(version: string): Promise<ReleaseSamples> {
  const files = await readdir(join(directory, version));
  const sorts = files.map(async (file) => {
    const text = await readFile(join(directory, version, file), "utf8");
    return [file.replace(/\.json$/, ""), fieldsOf(parseJson(text, file), file)] as const;
  });
  return Object.fromEntries(await Promise.all(sorts));
}

/** The releases whose samples are kept: those whose messages or items may still be there. */
export const releases: readonly { readonly version: string; readonly samples: ReleaseSamples }[] =
  await Promise.all(
    (await readdir(directory)).map(async (version) => ({ version, samples: await readSamples(version) })),
  );

export async function writeSamples(version: string, samples: ReleaseSamples): Promise<void> {
  await mkdir(join(directory, version), { recursive: true });
  for (const [sort, content] of Object.entries(samples)) {
    const text = JSON.stringify(content, byName, 2);
    await writeFile(join(directory, version, `${sort}.json`), `${text}\n`);
  }
}

/** Tables give an item's attributes in any order. */
function byName(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
