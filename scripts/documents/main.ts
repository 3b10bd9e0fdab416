import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { breaksOf } from "./asyncapi.ts";
import { documents } from "./documents.ts";

// Writes the documents that are made of the code; with --check it only says which are stale.
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const root = join(import.meta.dirname, "../..");
const say = (line: string) => process.stdout.write(`${line}\n`);
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

const broken = breaksOf(JSON.parse(textOf("docs/reference/asyncapi.json")));
if (broken.length > 0) {
  for (const line of broken) say(line);
  say("Subscribers rely on these: make a new type instead, see docs/adr/0013-what-subscribers-rely-on.md.");
  process.exitCode = 1;
} else {
  const stale = documents
    .map(({ file, text }) => ({ file, before: textOf(file), text: text(textOf(file)) }))
    .filter(({ before, text }) => before !== text);
  for (const { file, text } of stale) {
    if (!values.check) writeFileSync(join(root, file), text);
    say(`${file}: ${values.check ? "is stale; run npm run docs" : "written"}`);
  }
  if (values.check && stale.length > 0) process.exitCode = 1;
}
