import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Bundle, bundle } from "../../lib/bundle.ts";
import { bundleOf } from "../assemble.ts";
import type { Part, Side } from "../sides.ts";

const repository = join(import.meta.dirname, "..", "..");

/** What stands beside the sides where an import is measured: the clients alone, and nothing at all. */
export const references = ["clients", "empty"] as const;
export type Imported = Side | (typeof references)[number];

export type WrittenBundle = { readonly file: string; readonly gzipBytes: number };
export type WrittenBundles = Disposable & { readonly of: (name: Imported, part: Part) => WrittenBundle };

/** Writes bundles where they can be imported from, each with the settings that it reads. */
export function writeBundles(names: readonly Imported[], parts: readonly Part[]): WrittenBundles {
  const root = mkdtempSync(join(tmpdir(), "bench-bundles-"));
  const written = new Map<string, WrittenBundle>();
  for (const name of names) {
    for (const part of parts)
      written.set(`${name}/${part}`, write(join(root, name, part), sourceOf(name, part), part));
  }
  return {
    of: (name, part) => {
      const found = written.get(`${name}/${part}`);
      if (found === undefined) throw new Error(`no bundle of ${name} ${part} was written`);
      return found;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

function sourceOf(name: Imported, part: Part): Bundle {
  switch (name) {
    case "clients":
      return bundle(repository, `bench/references/clients-${part}.ts`);
    case "empty":
      return bundle(repository, "bench/references/empty.ts");
    default:
      return bundleOf(name, part);
  }
}

function write(directory: string, { files }: Bundle, part: Part): WrittenBundle {
  mkdirSync(directory, { recursive: true });
  let gzipBytes = 0;
  for (const [name, contents] of files) {
    writeFileSync(join(directory, name), contents);
    if (name.endsWith(".mjs")) gzipBytes += gzipSync(contents, { level: 9 }).byteLength;
  }
  writeFileSync(join(directory, "settings.json"), JSON.stringify(settings[part]));
  return { file: join(directory, "index.mjs"), gzipBytes };
}

/** As the stack writes them for our functions, cut to what an import reads. */
const settings: Readonly<Record<Part, object>> = {
  receive: { secretHeader: "x-webhook-secret", secretCacheSeconds: 60, maxBodyBytes: 6_291_456 },
  store: { retentionDays: 30, mapping: { type: "event", types: {}, ids: "uuid" } },
  relay: {},
  fetch: {},
};
