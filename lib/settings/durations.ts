import { Duration } from "aws-cdk-lib";
import * as events from "aws-cdk-lib/aws-events";
import type { Settings } from "./settings.ts";

type Compressed = Pick<Settings, "divideDurationsBy">;

/** Queues keep messages, and Lambda retries a stream's records, for a minute at least. */
const shortestAgeInSeconds = 60;

/** An age that AWS takes in whole seconds. */
export function wholeSeconds(age: Duration): Duration {
  return Duration.seconds(Math.max(shortestAgeInSeconds, Math.ceil(age.toSeconds({ integral: false }))));
}

/** A limit of AWS's that is no setting, divided as the settings are. */
export function divided(age: Duration, { divideDurationsBy }: Compressed): Duration {
  return wholeSeconds(Duration.seconds(age.toSeconds() / divideDurationsBy));
}

/** Objects expire after whole days. */
export function wholeDays(days: number): Duration {
  return Duration.days(Math.ceil(days));
}

/** EventBridge's rates are whole minutes, at least one. */
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

/** A time for people, rounded to half of its largest unit: "10 minutes", "3.5 days". */
export function inWords(time: Duration): string {
  const seconds = time.toSeconds({ integral: false });
  const [name, length] = units.find(([, each]) => seconds >= each) ?? ["second", 1];
  const count = Math.round((2 * seconds) / length) / 2;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
