import { z } from "zod";
import { isHoursOfWeek, readHoursOfWeek } from "./hours-of-week.ts";
import { flag, listOf, remedyOf, scalableDuration, section, text, wholeNumber } from "./setting-types.ts";

/** Whom alarms notify, and what no template can know: how much of something is unusual. */
export const alarmsSchema = section({
  /** A topic of SNS that is there already; its policy lets CloudWatch publish. */
  topicArn: text(
    /^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
    "write the ARN of a standard topic of SNS in the stage's region",
  ).exactOptional(),
  /** Subscribed to a topic of the stack's own; each must follow the link of its first mail. */
  emails: listOf(z.email({ error: remedyOf('write an address, such as "on-call@your.company"') }))
    .min(1, { error: remedyOf("name an address, or leave the setting out") })
    .exactOptional(),
  /** Whether each alarm also notifies `topicArn` when it is over; an own topic gets one notice when all are over. */
  notifyWhenOver: flag().default(true),
  /** Alarm when a subscriber's oldest message has waited this many minutes; a quarter of its retention at most. */
  subscriberBehindMinutes: scalableDuration(1, 10_080, ", a week").default(60),
  /** Alarm after this many hours without a webhook; unset: none. CloudWatch looks back a week at most. */
  nothingReceivedHours: scalableDuration(1, 168, ", the week that CloudWatch looks back").exactOptional(),
  /** Hours of the week in which these hours are counted, in UTC; unset: all. */
  receivingSchedule: z
    .string()
    .refine(isHoursOfWeek, {
      error: remedyOf('write days and hours in UTC, such as "mon-fri 07-19", from Monday to Sunday'),
    })
    .exactOptional(),
  /** So many webhooks with a wrong secret, signature or source in an hour are more than somebody's scanner. */
  refusedPerHour: wholeNumber(1, 1_000_000).default(20),
  /** So much that no webhook announced, found in one run of the reconciliation, is more than an accident. */
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
