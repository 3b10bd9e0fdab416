import { alarmsTable } from "./alarms-page.ts";
import { asyncApi } from "./asyncapi.ts";
import { attributesTable, sections, typesTable } from "./events-page.ts";
import { codesTable, loudTable } from "./logs-page.ts";
import { withBlocks } from "./markdown.ts";
import { openApi } from "./openapi.ts";
import { groupsInFiles, settingsProps } from "./settings-props.ts";

/** A file that is written by a program: the same text each time, of the code and of what people wrote in it. */
type Document = { readonly file: string; readonly text: (present: string) => string };

export const documents: readonly Document[] = [
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
