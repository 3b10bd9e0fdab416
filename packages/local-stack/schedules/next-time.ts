import { Cron } from "croner";
import { PlanError } from "../assembly/problems.ts";

const minutes: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1440 };

/**
 * Parses a schedule expression of EventBridge: `rate(5 minutes)`, or `cron(0 10 * * ? *)` in UTC.
 * @returns a function that returns the first time after a given one
 * @throws PlanError for any other expression
 */
export function parseSchedule(expression: string): (after: Date) => Date {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression);
  const period = Number(rate?.[1]) * (minutes[rate?.[2] ?? ""] ?? Number.NaN) * 60_000;
  if (period > 0) return (after) => new Date(after.getTime() + period);
  const fields = /^cron\((\S+ \S+ \S+ \S+ \S+) (\S+)\)$/.exec(expression);
  if (fields !== null) return parseCron(expression, `0 ${fields[1]} ${fields[2]}`);
  throw unknownSchedule(expression);
}

function parseCron(expression: string, pattern: string): (after: Date) => Date {
  try {
    // EventBridge numbers weekdays from 1, Sunday; `?` leaves one of the two day fields open.
    const cron = new Cron(pattern.replaceAll("?", "*"), {
      timezone: "UTC",
      paused: true,
      alternativeWeekdays: true,
    });
    return (after) => {
      const next = cron.nextRun(after);
      if (next === null) throw unknownSchedule(`${expression}, which never fires again`);
      return next;
    };
  } catch {
    throw unknownSchedule(expression);
  }
}

function unknownSchedule(expression: string): PlanError {
  return new PlanError(
    `the schedule ${expression} is not one that the local runner knows`,
    "Use rate(…) in minutes, hours or days, or cron(…) with six fields.",
  );
}
