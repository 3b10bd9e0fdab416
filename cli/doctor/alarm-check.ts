import { type StackAlarm, stackAlarms } from "../../adapters/aws/stack-alarms.ts";
import { oneLine } from "../core/printable.ts";
import { fromNow } from "../core/spans.ts";
import { type Check, deployAgain, type Finding } from "./finding.ts";

export const alarmCheck: Check = {
  name: "alarms",
  examine: async ({ deployment, clients, now }) => {
    const alarms = await stackAlarms(clients.cloudWatch, deployment.stack);
    const on = alarms.flatMap((alarm) => checkAlarm(alarm, now));
    // What runs on this machine informs its terminal.
    const isInAws = deployment.client.endpoint === undefined;
    return isInAws ? [...checkActions(alarms, deployment.stage), ...on] : on;
  },
};

/** Alarms that notify nobody are seen by those only who look. */
export function checkActions(alarms: readonly StackAlarm[], stage: string): readonly Finding[] {
  const silent = alarms.filter(({ isTold }) => !isTold);
  if (silent.length === 0) return [];
  return [
    {
      what: `${silent.length} of ${alarms.length} alarms notify nobody.`,
      why: "What goes wrong is seen by those only who look. The settings alarms.emails and alarms.topicArn say who is notified.",
      fix: deployAgain(stage),
    },
  ];
}

/** An alarm's description says what it means, and ends with what to type. */
export function checkAlarm({ name, description, isOn, since }: StackAlarm, now: Date): readonly Finding[] {
  if (!isOn) return [];
  const text = oneLine(description);
  const [, command = `see ${name} in CloudWatch`] = /: ((?:npx|aws) .+)$/.exec(text) ?? [];
  return [
    {
      what: `The alarm ${name} is on${since === undefined ? "" : `, since ${fromNow(since, now)}`}.`,
      why: text,
      fix: command,
    },
  ];
}
