import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import type { Settings } from "./settings.ts";

type Compressed = Pick<Settings, "divideDurationsBy">;

/** Minimum retention of queues, and minimum age of records that Lambda retries. */
const shortestAgeInSeconds = 60;

/** Rounds an age up to the whole seconds that AWS accepts. */
export function wholeSeconds(age: Duration): Duration {
  return Duration.seconds(Math.max(shortestAgeInSeconds, Math.ceil(age.toSeconds({ integral: false }))));
}

/** Divides a limit that is not a setting as the settings are divided. */
export function divided(age: Duration, { divideDurationsBy }: Compressed): Duration {
  return wholeSeconds(Duration.seconds(age.toSeconds() / divideDurationsBy));
}

/** Rounds up to whole days, as S3 requires for expiration. */
export function wholeDays(days: number): Duration {
  return Duration.days(Math.ceil(days));
}

/** Rounds to whole minutes, at least one, as EventBridge requires. */
export function every(period: Duration): events.Schedule {
  return events.Schedule.rate(
    Duration.minutes(Math.max(1, Math.round(period.toMinutes({ integral: false })))),
  );
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A duration for people, rounded to half of its largest unit: "10 minutes", "3.5 days". */
export function inWords(time: Duration): string {
  const seconds = time.toSeconds({ integral: false });
  const [name, length] = units.find(([, each]) => seconds >= each) ?? ["second", 1];
  const count = Math.round((2 * seconds) / length) / 2;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
