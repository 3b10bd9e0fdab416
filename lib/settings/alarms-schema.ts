import { z } from "zod";
import { isHoursOfWeek, readHoursOfWeek } from "./hours-of-week.ts";
import { flag, listOf, remedyOf, scalableDuration, section, text, wholeNumber } from "./setting-types.ts";

/** Whom alarms notify, and thresholds that differ by tenant. */
export const alarmsSchema = section({
  /** An existing SNS topic, whose policy must allow CloudWatch to publish. */
  topicArn: text(
    /^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
    "write the ARN of a standard topic of SNS in the stage's region",
  ).exactOptional(),
  /** Subscribed to a topic that the stack creates; each recipient must confirm its first email. */
  emails: listOf(z.email({ error: remedyOf('write an address, such as "on-call@your.company"') }))
    .min(1, { error: remedyOf("name an address, or leave the setting out") })
    .exactOptional(),
  /** Whether each alarm also notifies `topicArn` when it is over; an own topic gets one notice when all are over. */
  notifyWhenOver: flag().default(true),
  /** Alarm when a subscriber's oldest message has waited this many minutes; at most a quarter of its retention. */
  subscriberBehindMinutes: scalableDuration(1, 10_080, ", a week").default(60),
  /** Alarm after this many hours without a webhook; unset: none. CloudWatch evaluates a week at most. */
  nothingReceivedHours: scalableDuration(1, 168, ", the week that CloudWatch looks back").exactOptional(),
  /** Hours of the week in UTC that count for it; unset: all. */
  receivingSchedule: z
    .string()
    .refine(isHoursOfWeek, {
      error: remedyOf('write days and hours in UTC, such as "mon-fri 07-19", from Monday to Sunday'),
    })
    .exactOptional(),
  /** Alarm after this many webhooks in an hour with a wrong secret, signature or source. Scanners send fewer. */
  refusedPerHour: wholeNumber(1, 1_000_000).default(20),
  /** Alarm when one run of the reconciliation finds this many records that no webhook announced. */
  reconciliationDrift: wholeNumber(1, 1_000_000).default(10),
})
  .refine(({ topicArn, emails }) => topicArn === undefined || emails === undefined, {
    path: ["emails"],
    error: "are for a topic of the stack's own; subscribe them to alarms.topicArn, or leave that out",
  })
  .refine(
    ({ receivingSchedule, nothingReceivedHours }) =>
      receivingSchedule === undefined || nothingReceivedHours !== undefined,
    {
      path: ["receivingSchedule"],
      error: "are those of alarms.nothingReceivedHours; set that too, or leave them out",
    },
  )
  .refine(
    ({ receivingSchedule: hours, nothingReceivedHours: silence }) => {
      if (hours === undefined || silence === undefined || !isHoursOfWeek(hours)) return true;
      const { from, to } = readHoursOfWeek(hours);
      return silence <= to - from;
    },
    {
      path: ["nothingReceivedHours"],
      error: "are more than alarms.receivingSchedule has in a day, and would never pass; lower them",
    },
  )
  .prefault({});
