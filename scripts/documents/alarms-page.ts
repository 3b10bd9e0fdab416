import { table } from "./markdown.ts";
import { alarmsOf, type TemplateAlarm } from "./template-alarms.ts";

/** What raises each alarm, in production with the default settings and one subscriber. */
export function alarmsTable(): string {
  const alarms = alarmsOf({
    production: true,
    alarms: { emails: ["on-call@example.com"] },
    provider: { baseUrls: { sandbox: "https://api.income-provider.com" } },
    subscribers: [{ name: "subscriber" }],
  });
  const metrics = alarms.reduce((sum, { metrics: watched }) => sum + watched.length, 0);
  const ofSubscriber = alarms.filter(({ entry }) => entry.startsWith("subscriber-")).length;
  return `${table(["alarm", "raised when", "of"], alarms.map(row))}

${alarms.length} alarms watch ${metrics} metrics; each further subscriber brings ${ofSubscriber} alarms of one metric.`;
}

function row(alarm: TemplateAlarm): readonly string[] {
  const names = [...new Set(alarm.metrics.map(({ name }) => `\`${name}\``))].join(" + ");
  const count = alarm.metrics.length === 1 ? "" : ` of ${alarm.metrics.length} metrics`;
  const how =
    alarm.together === "greatest"
      ? "the greatest"
      : alarm.metrics[0]?.statistic === "Sum"
        ? "the sum"
        : "the most";
  const times =
    alarm.evaluationPeriods === 1
      ? ""
      : `, in ${alarm.datapointsToAlarm} of ${alarm.evaluationPeriods} such times`;
  const compared = alarm.isLack ? "is at most" : "is at least";
  return [
    `[${alarm.entry.replaceAll("-", " ")}](runbook.md#${alarm.entry})`,
    `${how} in ${spanOf(alarm.periodSeconds)} ${compared} ${alarm.threshold}${times}`,
    `${names}${count}`,
  ];
}

function spanOf(seconds: number): string {
  const [name, length] = seconds % 3_600 === 0 ? (["hour", 3_600] as const) : (["minute", 60] as const);
  const count = seconds / length;
  return count === 1 ? `1 ${name}` : `${count} ${name}s`;
}
