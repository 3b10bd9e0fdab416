import { join } from "node:path";
import { messageTypes } from "../../domain/message/message-schemas.ts";
import { documentOf, drawingOf } from "../../proof/bench/report/write-document.ts";
import { promisesPage } from "../../proof/records/counts.ts";
import { alarmsPage } from "./alarms-page.ts";
import { asyncApi } from "./asyncapi.ts";
import { capacityPage } from "./capacity/capacity-page.ts";
import { burstChart, outageChart } from "./capacity/charts.ts";
import { costChart } from "./cost/cost-chart.ts";
import { costPage } from "./cost/cost-page.ts";
import { documentSchemas } from "./document-schema.ts";
import { eventsPage } from "./events-page.ts";
import { logsPage } from "./logs-page.ts";
import { schemaFile } from "./message-schema.ts";
import { openApi } from "./openapi.ts";
import { groupsInFiles, settingsProps } from "./settings-props.ts";
import { subscriberChecks, subscriberContract } from "./subscriber-contract.ts";

const bench = join(import.meta.dirname, "../../proof/bench");

/** A file that is written by a program: the same text each time, of nothing but the code. */
export type Document = { readonly file: string; readonly text: () => string };

/** All of them. A test fails where the file in the repository is not this text. */
export const documents: readonly Document[] = [
  { file: "docs/operate/alarms.md", text: alarmsPage },
  { file: "docs/guide/events.md", text: eventsPage },
  { file: "docs/reference/logs.md", text: logsPage },
  { file: "docs/reference/asyncapi.json", text: asyncApi },
  { file: "docs/reference/openapi.json", text: openApi },
  { file: "docs/evidence/promises.md", text: promisesPage },
  { file: "docs/evidence/cost.md", text: costPage },
  { file: "docs/evidence/cost.svg", text: costChart },
  { file: "proof/bench/README.md", text: () => documentOf(bench) },
  { file: "proof/bench/results/ratios.svg", text: () => drawingOf(bench) },
  { file: "docs/evidence/capacity.md", text: capacityPage },
  { file: "docs/evidence/capacity-burst.svg", text: burstChart },
  { file: "docs/evidence/capacity-outage.svg", text: outageChart },
  { file: "packages/subscriber/contract.ts", text: subscriberContract },
  { file: "packages/subscriber/checks.ts", text: subscriberChecks },
  ...(["settings", ...groupsInFiles] as const).map((group) => ({
    file: `lib/construct/props/${group}.ts`,
    text: () => settingsProps(group),
  })),
  ...documentSchemas,
  ...messageTypes.map((type) => ({
    file: `docs/reference/schemas/${type}.json`,
    text: () => schemaFile(type),
  })),
];
