import { Duration } from "aws-cdk-lib";
import type { Settings } from "../settings/settings.ts";
import { maxReceiveCount } from "../settings/subscribers-schema.ts";

/** So small a part of the time that something is kept may pass before a person is notified: the rest is theirs. */
const partsKept = 4;

/**
 * The age at which a queue's oldest message is too old: other messages were received five times meanwhile. Never more than
 * a quarter of the time that the queue keeps it. A trap: a standard queue leaves out messages that were received three
 * times, so that this alarm is about messages that nobody receives; the alarm on failed messages is about the others.
 * @param delay the longest that messages are delayed on purpose, or are sent again after
 */
export function oldestAge(visibility: Duration, retention: Duration, delay = Duration.seconds(0)): Duration {
  const triesInSeconds = delay.toSeconds() + maxReceiveCount * visibility.toSeconds();
  return Duration.seconds(Math.min(triesInSeconds, quarterOf(retention).toSeconds()));
}

/**
 * The period of an alarm on messages that fail: not shorter than the visibility time-out, after which a failed message
 * comes back. A message that fails for good then fails in nearly every period, and a failure that passes in one.
 */
export function failurePeriod(visibility: Duration, settings: Pick<Settings, "divideDurationsBy">): Duration {
  const shortest = Duration.minutes(5).toSeconds() / settings.divideDurationsBy;
  return Duration.seconds(Math.max(visibility.toSeconds(), Math.ceil(shortest)));
}

/** How far a subscriber may be behind: a minute at least, for SQS measures once in a minute; never more than a quarter of the time that its queue keeps messages. */
export function subscriberLag(minutes: number, retention: Duration): Duration {
  return Duration.seconds(Math.min(Math.max(60, Math.ceil(60 * minutes)), quarterOf(retention).toSeconds()));
}

function quarterOf(retention: Duration): Duration {
  return Duration.seconds(Math.floor(retention.toSeconds() / partsKept));
}

/**
 * How far the relay may be behind: a twentieth of the age at which it gives changes up, an hour of twenty. It tries
 * again by itself, so what takes minutes needs nobody.
 */
export function relayLag(longestRecordAge: Duration): Duration {
  return Duration.seconds(Math.max(1, Math.floor(longestRecordAge.toSeconds() / 20)));
}

/** So many calls wait that the provider's rate needs an hour for them. */
export function fetchBacklog(requestsPerMinute: number): number {
  return 60 * requestsPerMinute;
}
