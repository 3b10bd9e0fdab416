import type { StackAlarm } from "../../../adapters/aws/stack-alarms.ts";
import { fromNow, oneLine } from "../core/text.ts";
import { alarmName, lastingText, pipelineAlarms } from "../status/stage-status.ts";
import { deployAgain, type Examination, type Finding, type Well } from "./finding.ts";

/** Maximum delay of an alarm's metrics and of CloudWatch. */
const lagInMillis = 120_000;

/**
 * The findings of alarms.
 * @param well checks that passed: an alarm about them is on because of an earlier problem
 */
export async function examineAlarms(
  examination: Examination,
  well: readonly Well[],
): Promise<readonly Finding[]> {
  const { deployment, now } = examination;
  const alarms = await pipelineAlarms(examination);
  const on = alarms.flatMap((alarm) => checkAlarm(alarm, well, now));
  // A local system reports to its terminal.
  return deployment.local !== undefined ? on : [...checkActions(alarms, deployment), ...on];
}

/**
 * Finds alarms that notify nobody. A stage whose settings name no recipient is not reported; production
 * requires one.
 */
export function checkActions(
  alarms: readonly StackAlarm[],
  { stage, optionalOutput }: Pick<Examination["deployment"], "stage" | "optionalOutput">,
): readonly Finding[] {
  if (optionalOutput("AlarmTopicArn") === undefined) return [];
  const silent = alarms.filter(({ isTold }) => !isTold);
  if (silent.length === 0) return [];
  return [
    {
      code: "alarms-silent",
      severity: "warning",
      what: `${silent.length} of ${alarms.length} alarms notify nobody.`,
      why: "Nobody is notified of problems. Set alarms.emails or alarms.topicArn.",
      fix: deployAgain(stage),
    },
  ];
}

/** An alarm's description says what it means and ends with a command. */
export function checkAlarm(alarm: StackAlarm, well: readonly Well[], now: Date): readonly Finding[] {
  const { name, description, entry, isOn, since } = alarm;
  if (!isOn) return [];
  const what = `The alarm "${alarmName(alarm)}" ${lastingText(alarm, now)}.`;
  const text = oneLine(description);
  const remedy = / [A-Z][^.]*: ((?:npx|aws) .+)$/;
  const [, command = `see ${name} in CloudWatch`] = remedy.exec(text) ?? [];
  const cleared = well.find((one) => one.code === entry && isBefore(one, since));
  if (cleared === undefined)
    return [
      { code: entry, severity: "warning", what, why: text.replace(remedy, ""), fix: command, isAlarm: true },
    ];
  const end = clearsAt(alarm, cleared, now);
  return [
    {
      code: entry,
      severity: "info",
      what: `The alarm "${alarmName(alarm)}" is still on after the problem ended: it clears ${end > now ? `${fromNow(end, now)} at the latest` : "within a minute"}.`,
      why: "Its cause is gone; the alarm's period still includes it.",
      fix: "no action needed",
      isAlarm: true,
      clearsAt: end.toISOString(),
    },
  ];
}

function isBefore({ since: wellSince }: Well, alarmSince: Date | undefined): boolean {
  if (wellSince === undefined || alarmSince === undefined) return true;
  return wellSince.getTime() >= alarmSince.getTime() - lagInMillis;
}

/** The alarm looks back one more period after its cause ended, which was now at the latest. */
function clearsAt({ since, lookBackSeconds }: StackAlarm, { since: fixed }: Well, now: Date): Date {
  const from = Math.max(since?.getTime() ?? 0, fixed?.getTime() ?? 0) || now.getTime();
  return new Date(from + lookBackSeconds * 1_000 + lagInMillis);
}
