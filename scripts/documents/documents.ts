import { join } from "node:path";
import { documentOf, drawingOf } from "../../proof/bench/report/write-document.ts";
import { alarmsTable } from "./alarms-page.ts";
import { asyncApi } from "./asyncapi.ts";
import { capacityPage } from "./capacity/capacity-page.ts";
import { burstChart, outageChart } from "./capacity/charts.ts";
import { costChart } from "./cost/cost-chart.ts";
import { costPage } from "./cost/cost-page.ts";
import { attributesTable, sections, typesTable } from "./events-page.ts";
import { codesTable, loudTable } from "./logs-page.ts";
import { withBlocks } from "./markdown.ts";
import { openApi } from "./openapi.ts";
import { groupsInFiles, settingsProps } from "./settings-props.ts";

const bench = join(import.meta.dirname, "../../proof/bench");

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
  { file: "docs/evidence/cost.md", text: costPage },
  { file: "docs/evidence/cost.svg", text: costChart },
  { file: "proof/bench/README.md", text: () => documentOf(bench) },
  { file: "proof/bench/results/ratios.svg", text: () => drawingOf(bench) },
  { file: "docs/evidence/capacity.md", text: capacityPage },
  { file: "docs/evidence/capacity-burst.svg", text: burstChart },
  { file: "docs/evidence/capacity-outage.svg", text: outageChart },
  ...(["settings", ...groupsInFiles] as const).map((group) => ({
    file: `lib/construct/props/${group}.ts`,
    text: () => settingsProps(group),
  })),
];
