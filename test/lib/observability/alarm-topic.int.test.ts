import { describe, expect, it } from "vitest";
import { parseSettings } from "../../../lib/settings/settings.ts";
import {
  keyArn,
  longSubscribers,
  productionSettings,
  type Synthesized,
  synthesized,
} from "../synthesized.ts";

const emails = ["on-call@example.com", "owner@example.com"];
const topicArn = "arn:aws:sns:eu-central-1:123456789012:on-call";
const { alarms: _, ...withoutAlarms } = productionSettings;

function alarmsOf(stack: Synthesized) {
  const found = stack.ofType("AWS::CloudWatch::Alarm");
  expect(found).not.toEqual([]);
  return found;
}

describe("where alarms go", () => {
  it("must be set in production, and is refused with what to write", () => {
    expect(() => parseSettings(withoutAlarms, "prod.json")).toThrow(
      /alarms: notify nobody, .*write \{"emails": \["on-call@your.company"\]\}, or \{"topicArn"/,
    );
    expect(() => parseSettings({ ...withoutAlarms, production: false }, "dev.json")).not.toThrow();
  });

  it.each<readonly [alarms: object, expected: string]>([
    [{ emails: ["nobody"] }, "alarms.emails.0"],
    [{ emails: [] }, "alarms.emails: is []; name an address"],
    [{ topicArn: "on-call" }, "alarms.topicArn"],
    [{ topicArn, emails }, "alarms.emails: are for a topic of the stack's own"],
    [{ topicArn, nothingReceivedHours: 169 }, "alarms.nothingReceivedHours"],
    [{ topicArn, receivingSchedule: "mon-fri 07-19" }, "alarms.receivingSchedule: are those of"],
    ...["fri-mon 07-19", "mon-fri 19-07", "mon-fri 07-25", "mon-fri 7-19", "weekdays"].map(
      (receivingSchedule) =>
        [{ topicArn, nothingReceivedHours: 4, receivingSchedule }, "alarms.receivingSchedule"] as const,
    ),
    [
      { topicArn, nothingReceivedHours: 13, receivingSchedule: "mon-fri 07-19" },
      "alarms.nothingReceivedHours: are more than alarms.receivingSchedule",
    ],
  ])("is refused if it is invalid: %j", (alarms, expected) => {
    expect(() => parseSettings({ ...withoutAlarms, alarms }, "prod.json")).toThrow(expected);
  });

  it("is a topic of the stack, to which each address is subscribed", () => {
    const stack = synthesized({ ...withoutAlarms, alarms: { emails } });
    const [topic] = stack.ofType("AWS::SNS::Topic");
    expect(stack.ofType("AWS::SNS::Subscription").map(({ Properties }) => Properties)).toEqual(
      emails.map((Endpoint) => ({ Endpoint, Protocol: "email", TopicArn: { Ref: topic?.id } })),
    );
    expect(stack.outputs.AlarmTopicArn?.Value).toEqual({ Ref: topic?.id });
  });

  it.each([
    ["also when it is over", {}, [topicArn]],
    ["not when it is over, where the settings say so", { notifyWhenOver: false }, undefined],
  ])(
    "that is given is notified of each alarm that goes off, %s, and of nothing else",
    (_, settings, ends) => {
      const stack = synthesized({ ...withoutAlarms, alarms: { topicArn, ...settings } });
      const alarms = alarmsOf(stack);
      for (const { Properties } of alarms) {
        expect(Properties.AlarmActions).toEqual([topicArn]);
        expect(Properties.OKActions).toEqual(ends);
      }
      expect(stack.ofType("AWS::CloudWatch::CompositeAlarm")).toEqual([]);
      expect(stack.text).not.toContain("AWS::SNS::");
      expect(stack.outputs.AlarmTopicArn?.Value).toBe(topicArn);
      // A rule's event is not the alarm message that paging services parse.
      for (const { id, Properties } of stack.ofType("AWS::Events::Rule"))
        expect(Properties, id).not.toHaveProperty("EventPattern");
    },
  );

  it("of mails is notified of each alarm that goes off, and once when all are over", () => {
    const stack = synthesized({ ...withoutAlarms, alarms: { emails } });
    const alarms = alarmsOf(stack);
    const action = [{ Ref: stack.ofType("AWS::SNS::Topic")[0]?.id }];
    for (const { Properties } of alarms) {
      expect(Properties.AlarmActions).toEqual(action);
      expect(Properties).not.toHaveProperty("OKActions");
    }
    const [all, ...others] = stack.ofType("AWS::CloudWatch::CompositeAlarm");
    expect(others).toEqual([]);
    expect(all?.Properties).toMatchObject({ OKActions: action });
    for (const property of ["AlarmActions", "AlarmName"])
      expect(all?.Properties).not.toHaveProperty(property);
    const rule = JSON.stringify(all?.Properties.AlarmRule);
    for (const { id } of alarms) {
      const term = id.includes("RefreshAlarmsMissing") ? "NOT OK" : "ALARM";
      expect(rule).toMatch(new RegExp(`${term}\\(\\\\"",\\{"Ref":"${id}"\\}`));
    }
  });

  it("has room for all alarms in the rule that takes them together, with the longest names", () => {
    const settings = { ...withoutAlarms, alarms: { emails }, subscribers: longSubscribers };
    const stack = synthesized(settings, "s".repeat(20));
    const alarms = alarmsOf(stack);
    // Source: CloudWatch API reference, "PutCompositeAlarm".
    const longest = alarms.map(({ id }) => ` OR NOT OK("${stack.name}-${id}-${"x".repeat(13)}")`).join("");
    expect(longest.length).toBeLessThan(10_240);
    expect(alarms.length).toBeLessThanOrEqual(100);
  });

  it("is published to by this stack's alarms only, over TLS only", () => {
    const stack = synthesized({ ...withoutAlarms, alarms: { emails } });
    const [policy, ...others] = stack.ofType("AWS::SNS::TopicPolicy");
    expect(others).toEqual([]);
    expect(policy?.Properties).toMatchObject({
      PolicyDocument: {
        Statement: [
          {
            Effect: "Deny",
            Action: "sns:Publish",
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          },
          {
            Effect: "Allow",
            Action: "sns:Publish",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
          },
        ],
      },
    });
    expect(JSON.stringify(policy)).toContain(":alarm:income-events-test-*");
  });

  it("does not exist in a stage that names nobody", () => {
    const stack = synthesized({ ...withoutAlarms, production: false });
    expect(stack.text).not.toContain("AWS::SNS::");
    expect(stack.outputs).not.toHaveProperty("AlarmTopicArn");
    for (const { Properties } of alarmsOf(stack)) {
      expect(Properties).not.toHaveProperty("AlarmActions");
    }
  });

  it("is encrypted with the customer's key", () => {
    const stack = synthesized({ ...withoutAlarms, alarms: { emails }, encryption: { keyArn } });
    expect(stack.ofType("AWS::SNS::Topic")[0]?.Properties).toMatchObject({ KmsMasterKeyId: keyArn });
  });
});
