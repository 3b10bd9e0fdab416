import { alarmsOf, type TemplateAlarm } from "./template-alarms.ts";

/** The page that lists what raises each alarm, in production with the default settings. */
export function alarmsPage(): string {
  const alarms = alarmsOf({
    production: true,
    alarms: { emails: ["on-call@example.com"] },
    provider: { baseUrls: { sandbox: "https://api.income-provider.com" } },
    subscribers: [{ name: "subscriber" }],
  });
  const metrics = alarms.reduce((sum, { metrics: watched }) => sum + watched.length, 0);
  const ofSubscriber = alarms.filter(({ entry }) => entry.startsWith("subscriber-")).length;
  return `${[
    opening,
    ["| alarm | raised when | of |", "|---|---|---|", ...alarms.map(row)].join("\n"),
    `${alarms.length} alarms watch ${metrics} metrics; each further subscriber brings ${ofSubscriber} alarms of one metric.`,
  ].join("\n\n")}\n`;
}

const opening = `# Alarms

<!-- Written by \`npm run docs\` from the alarms of the stack: change them in lib/. -->

These are the alarms of production, with the default settings and one subscriber. The [runbook](runbook.md) says what each
means and what to do. The reasons for this selection are in [ADR 19](../adr/0019-one-alarm-for-each-impact.md).`;

function row(alarm: TemplateAlarm): string {
  const heading = alarm.entry.replaceAll("-", " ");
  const names = [...new Set(alarm.metrics.map(({ name }) => `\`${name}\``))].join(" + ");
  const count = alarm.metrics.length === 1 ? "" : ` of ${alarm.metrics.length} metrics`;
  const how =
    alarm.together === "greatest"
      ? "the greatest"
      : alarm.metrics[0]?.statistic === "Sum"
        ? "the sum"
        : "the most";
  const over = `${how} in ${spanOf(alarm.periodSeconds)}`;
  const times =
    alarm.evaluationPeriods === 1
      ? ""
      : `, in ${alarm.datapointsToAlarm} of ${alarm.evaluationPeriods} such times`;
  const compared = alarm.isLack ? "is at most" : "is at least";
  return `| [${heading}](runbook.md#${alarm.entry}) | ${over} ${compared} ${alarm.threshold}${times} | ${names}${count} |`;
}

function spanOf(seconds: number): string {
  const [name, length] = seconds % 3_600 === 0 ? (["hour", 3_600] as const) : (["minute", 60] as const);
  const count = seconds / length;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}
