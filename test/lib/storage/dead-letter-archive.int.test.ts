import { describe, expect, it } from "vitest";
import { fieldsOf, numberOf, textsOf } from "../../../domain/core/parse.ts";
import { productionSettings, synthesized } from "../synthesized.ts";

const name = "archive/dead-letters";
const limitsOf = (stack: ReturnType<typeof synthesized>) => fieldsOf(stack.bundles.get(name), name);
const deadLetterQueuesOf = (stack: ReturnType<typeof synthesized>) =>
  stack.ofType("AWS::SQS::Queue").filter(({ id }) => id.includes("DeadLetters"));

describe("the archive of dead letters", () => {
  it.each([1, 288])(
    "counts with the time that the queues keep a dead letter, divided by %i",
    (divideDurationsBy) => {
      const stack = synthesized({ ...productionSettings, production: false, divideDurationsBy });
      const queues = deadLetterQueuesOf(stack);
      expect(queues).toHaveLength(9);
      for (const { Properties } of queues) {
        expect(Properties.MessageRetentionPeriod).toBe(numberOf(limitsOf(stack), "retentionSeconds"));
      }
      expect(numberOf(limitsOf(stack), "retentionSeconds")).toBe((14 * 86_400) / divideDurationsBy);
      expect(numberOf(limitsOf(stack), "beforeEndSeconds")).toBe((48 * 3_600) / divideDurationsBy);
    },
  );

  it("runs at least twice before a dead letter expires, even if all times are divided", () => {
    const stack = synthesized({ ...productionSettings, production: false, divideDurationsBy: 288 });
    expect(stack.withId("ArchiveSchedule").Properties.ScheduleExpression).toBe("rate(1 minute)");
    expect(numberOf(limitsOf(stack), "beforeEndSeconds")).toBeGreaterThanOrEqual(120);
  });

  it("runs as often, as close to expiry, and with the retention that the settings specify", () => {
    const stack = synthesized({
      ...productionSettings,
      archive: { everyMinutes: 30, beforeEndHours: 24 },
      retention: { archiveDays: 365 },
    });
    expect(stack.withId("ArchiveSchedule").Properties.ScheduleExpression).toBe("rate(30 minutes)");
    expect(numberOf(limitsOf(stack), "beforeEndSeconds")).toBe(24 * 3_600);
    expect(stack.withId("ArchiveBucket").Properties.LifecycleConfiguration).toMatchObject({
      Rules: [{ ExpirationInDays: 365 }, {}],
    });
  });

  it("reads the dead letters of every queue, by the names that commands have", () => {
    const stack = synthesized(productionSettings);
    const { Environment } = stack.withId("ArchiveLettersFunction").Properties;
    const text = JSON.stringify(Environment);
    expect(textsOf(limitsOf(stack), "queues")).toEqual([
      ...["users", "accounts", "endpoints", "company-accounts", "fetch", "checks"],
      ...["subscriber/everything", "subscriber/risk-team", "erase"],
    ]);
    for (const { id } of deadLetterQueuesOf(stack)) expect(text).toContain(id);
  });
});
