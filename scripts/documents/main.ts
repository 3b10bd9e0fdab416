import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { apiPage, apiPageFile } from "../package/api-page.ts";
import { brokenPromises, staleDocuments, writeDocuments } from "./write.ts";

// Writes the documents that are made of the code; with --check it only says which are stale, and with --operating it
// runs the operator's commands on a system of its own and writes the page that shows them.
const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, operating: { type: "boolean", default: false } },
});
const root = join(import.meta.dirname, "../..");
const say = (lines: readonly string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(""));

const broken = brokenPromises(root);
if (values.operating) {
  await import("../operating/main.ts");
} else if (broken.length > 0) {
  say(broken);
  say(["Subscribers rely on these: make a new type instead, see docs/adr/0034-the-type-is-the-version.md."]);
  process.exitCode = 1;
} else if (values.check) {
  const page = join(root, apiPageFile);
  const isStale = !existsSync(page) || readFileSync(page, "utf8") !== apiPage(root);
  const stale = [...staleDocuments(root), ...(isStale ? [apiPageFile] : [])];
  say(stale.map((file) => `${file}: is stale; run npm run docs`));
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  // By the compiler, which takes seconds: no part of what tests write again and again.
  writeFileSync(join(root, apiPageFile), apiPage(root));
  say(writeDocuments(root).map((file) => `${file}: written`));
}
