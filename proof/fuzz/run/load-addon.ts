/** Loaded before Jazzer: where its native part can't be loaded as it was built, a loosened copy is. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { loosenAddon } from "./loosen-addon.ts";

const load = process.dlopen;

process.dlopen = (module: object, file: string, ...flags: number[]) => {
  try {
    load.call(process, module, file, ...flags);
  } catch (error) {
    const isTooNew = error instanceof Error && /version `\S+' not found/.test(error.message);
    if (!isTooNew || !basename(file).startsWith("fuzzer-linux-")) throw error;
    const directory = mkdtempSync(join(tmpdir(), "fuzzer-"));
    const copy = join(directory, basename(file));
    writeFileSync(copy, loosenAddon(readFileSync(file)));
    load.call(process, module, copy, ...flags);
    rmSync(directory, { recursive: true });
  }
};
