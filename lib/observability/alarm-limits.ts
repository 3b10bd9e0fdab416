import { Duration } from "aws-cdk-lib";
import type { Settings } from "../settings/settings.ts";
import { maxReceiveCount } from "../settings/subscribers-schema.ts";

/** An alarm is raised after a quarter of the retention time at the latest, which leaves the rest to a person. */
const partsKept = 4;

/**
 * Age at which a queue's oldest message is too old: time for five receives, and at most a quarter of the retention
 * time. Trap: the metric of a standard queue excludes messages that were received three times. This alarm therefore
 * covers messages that nobody receives, and the alarm on failed messages the others.
 * @param delay the longest that messages are delayed, or that passes before they are sent again
 */
export function oldestAge(visibility: Duration, retention: Duration, delay = Duration.seconds(0)): Duration {
  const triesInSeconds = delay.toSeconds() + maxReceiveCount * visibility.toSeconds();
  return Duration.seconds(Math.min(triesInSeconds, quarterOf(retention).toSeconds()));
}

/**
 * Period of an alarm on failing messages: at least the visibility timeout, after which a failed message is received
 * again. A permanent failure then shows in nearly every period, a temporary one in a single period.
 */
export function failurePeriod(visibility: Duration, settings: Pick<Settings, "divideDurationsBy">): Duration {
  const shortest = Duration.minutes(5).toSeconds() / settings.divideDurationsBy;
  return Duration.seconds(Math.max(visibility.toSeconds(), Math.ceil(shortest)));
}

/** Maximum lag of a subscriber: from a minute, SQS's interval of measurement, to a quarter of the retention. */
export function subscriberLag(minutes: number, retention: Duration): Duration {
  return Duration.seconds(Math.min(Math.max(60, Math.ceil(60 * minutes)), quarterOf(retention).toSeconds()));
}

function quarterOf(retention: Duration): Duration {
  return Duration.seconds(Math.floor(retention.toSeconds() / partsKept));
}

/**
 * Maximum lag of the relay: a twentieth of the age at which it gives up on changes, so one hour of twenty. It retries
 * by itself, so a lag of minutes needs no person.
 */
export function relayLag(longestRecordAge: Duration): Duration {
  return Duration.seconds(Math.max(1, Math.floor(longestRecordAge.toSeconds() / 20)));
}

/** Number of calls that the provider's rate allows in an hour. */
export function fetchBacklog(requestsPerMinute: number): number {
  return 60 * requestsPerMinute;
}
