import { awsTime } from "../../../adapters/aws/aws-clock.ts";
import { spanText } from "../core/spans.ts";
import { workQueue } from "../status/work-queues.ts";
import { type Check, type Finding, found } from "./finding.ts";

/** So far a clock may be off, and an answer be under way. */
const toleratedInSeconds = 60;

export const clockCheck: Check = {
  name: "this machine's clock",
  examine: async ({ deployment, clients }) => {
    const time = await awsTime(clients.sqs, workQueue(deployment, "users").queueUrl);
    return found(time === undefined ? [] : checkClockSkew(time, new Date()));
  },
};

export function checkClockSkew(aws: Date, own: Date): readonly Finding[] {
  const seconds = (own.getTime() - aws.getTime()) / 1000;
  if (Math.abs(seconds) <= toleratedInSeconds) return [];
  const off = `${spanText(Math.abs(seconds))} ${seconds > 0 ? "ahead of" : "behind"}`;
  return [
    {
      code: "clock-off",
      severity: "warning",
      what: `The clock of this machine is ${off} AWS's.`,
      why: "Ages and ends are shown wrong, and from five minutes on AWS refuses calls.",
      fix: "sudo timedatectl set-ntp true",
    },
  ];
}
