import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { alarmsTable } from "./alarms-page.ts";
import { asyncApi, breaksOf } from "./asyncapi.ts";
import { attributesTable, sections, typesTable } from "./events-page.ts";
import { codesTable, loudTable } from "./logs-page.ts";
import { withBlocks } from "./markdown.ts";
import { openApi } from "./openapi.ts";
import { groupsInFiles, settingsProps } from "./settings-props.ts";

/** A generated file; its text is derived from the code and its handwritten parts. */
type Document = { readonly file: string; readonly text: (present: string) => string };

const documents: readonly Document[] = [
  { file: "docs/operate/alarms.md", text: (page) => withBlocks(page, { alarms: alarmsTable() }) },
  {
    file: "docs/guide/events.md",
    text: (page) =>
      withBlocks(page, { attributes: attributesTable(), types: typesTable(), data: sections() }),
  },
  {
    file: "docs/reference/logs.md",
    text: (page) =>
      withBlocks(page, {
        errors: loudTable("ERROR"),
        warnings: loudTable("WARN"),
        infos: codesTable(),
      }),
  },
  { file: "docs/reference/asyncapi.json", text: asyncApi },
  { file: "docs/reference/openapi.json", text: openApi },
  ...(["settings", ...groupsInFiles] as const).map((group) => ({
    file: `lib/construct/props/${group}.ts`,
    text: () => settingsProps(group),
  })),
];

// Writes the generated documents; with --check it only lists stale ones.
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
