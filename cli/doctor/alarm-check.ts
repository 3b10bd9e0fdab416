import { type StackAlarm, stackAlarms } from "../../adapters/stack-alarms.ts";
import { oneLine } from "../printable.ts";
import { fromNow } from "../spans.ts";
import type { Check, Finding } from "./finding.ts";

export const alarmCheck: Check = {
  name: "alarms",
  examine: async ({ deployment, clients, now }) =>
    (await stackAlarms(clients.cloudWatch, deployment.stack)).flatMap((alarm) => judgeAlarm(alarm, now)),
};

/** An alarm's description says what it means, and ends with what to type. */
export function judgeAlarm({ name, description, isOn, since }: StackAlarm, now: Date): readonly Finding[] {
  if (!isOn) return [];
  const text = oneLine(description);
  const [, command = `see ${name} in CloudWatch`] = /: ((?:npx|aws) .+)$/.exec(text) ?? [];
  return [
    {
      what: `The alarm ${name} is on${since === undefined ? "" : `, since ${fromNow(since, now)}`}.`,
      why: text,
      mend: command,
    },
  ];
}
