/** Records the templates of a released version; later ones are compared with them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { printRelease, recordRelease } from "./release.ts";

const repository = join(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: { to: { type: "string", default: join(repository, "test/lib/releases") } },
});
const manifest = readFileSync(join(repository, "package.json"), "utf8");
const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest));
const file = join(values.to, `${version}.json`);
if (existsSync(file)) {
  process.stderr.write(
    `${file} exists, and a released version must not change. Raise the version in package.json first.\n`,
  );
  process.exitCode = 1;
} else {
  writeFileSync(file, printRelease(recordRelease(version)));
  process.stdout.write(`${file} holds the templates of ${version}.\n`);
}
