import { z } from "zod";
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
  /** So long no webhook may come; CloudWatch looks back a week at most. */
  nothingReceivedHours: scalableDuration(1, 168, ", the week that CloudWatch looks back").default(24),
  /** So many webhooks with a wrong secret, signature or source in an hour are more than somebody's scanner. */
  refusedPerHour: wholeNumber(1, 1_000_000).default(20),
  /** So much that no webhook announced, found in one run of the reconciliation, is more than an accident. */
  reconciliationDrift: wholeNumber(1, 1_000_000).default(10),
})
  .refine(({ topicArn, emails }) => topicArn === undefined || emails === undefined, {
    path: ["emails"],
    error: "are for a topic of the stack's own; subscribe them to alarms.topicArn, or leave that out",
  })
  .prefault({});
