import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/program.ts";
import { readAlarm } from "../../scripts/documents/alarms-page.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operate/runbook.md"), "utf8");
// With the alarm of each setting that adds one.
const alarms = synthesized({
  ...productionSettings,
  alarms: { ...productionSettings.alarms, nothingReceivedHours: 24 },
  readiness: { endpoints: ["income"] },
  canary: {},
  recovery: { vaultArn: "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events" },
})
  .ofType("AWS::CloudWatch::Alarm")
  .map(({ id, Properties }) => readAlarm(id, Properties));

describe("an alarm", () => {
  it("links to its entry in the runbook, and each entry is linked", () => {
    const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, heading = ""]) => heading);
    const anchors = headings.map((heading) => heading.toLowerCase().replaceAll(" ", "-"));
    expect([...new Set(alarms.map(({ entry }) => entry))].sort()).toEqual(anchors.sort());
  });

  it("names only existing commands", async () => {
    const names = (await createProgram()).commands.flatMap((group) =>
      group.commands.length === 0
        ? [group.name()]
        : group.commands.map((command) => `${group.name()} ${command.name()}`),
    );
    const named = alarms.flatMap(
      ({ description }) => /npx income-events ([a-z][^<]*)/.exec(description)?.[1] ?? [],
    );
    expect(named.length).toBeGreaterThan(10);
    const unknown = named.filter((line) => !names.some((name) => `${line} `.startsWith(`${name} `)));
    expect(unknown).toEqual([]);
  });
});
