import { App, Aspects, CfnOutput, CfnResource, type Environment, Stack, Tags } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { TextWidget } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { describe, expect, it } from "vitest";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { productionSettings } from "./synthesized.ts";

const codeOf = () => lambda.Code.fromInline("// stand-in");
const minimal = { production: false, subscribers: [{ name: "billing" }] };

/** A stack of an app with pipelines in it. */
function appWith(fill: (stack: Stack, add: Add) => void, env?: Environment) {
  const app = new App({ builtinCloudFormationValidation: false });
  const stack = new Stack(app, "Mine", env && { env });
  fill(
    stack,
    (id, written) => new IncomeEvents(stack, id, { stage: "test", where: "the test", codeOf, written }),
  );
  return Template.fromStack(stack);
}

type Add = (id: string, written: object) => IncomeEvents;

describe("the construct, whatever app it stands in", () => {
  it("lets an app's aspects and tags reach all of it, what is built last too", () => {
    const seen = new Set<string>();
    const template = appWith((stack, add) => {
      const events = add("Events", minimal);
      Aspects.of(stack).add({
        visit: (node) => void (node instanceof CfnResource && seen.add(stack.resolve(node.logicalId))),
      });
      Tags.of(stack).add("team", "income");
      events.addSubscriber({ name: "late" });
    });
    expect([...seen].sort()).toEqual(Object.keys(template.toJSON().Resources).sort());
    for (const { Properties } of Object.values(template.findResources("AWS::Lambda::Function")))
      expect(Properties.Tags).toContainEqual({ Key: "team", Value: "income" });
  });

  it("gives metrics of the pipeline and of each subscriber, on which an app puts alarms of its own", () => {
    const template = appWith((stack, add) => {
      const events = add("Events", minimal);
      const billing = events.subscriber("billing");
      const metrics = {
        Again: events.metricEventsAgain(),
        Oldest: events.metricOldestEvent(),
        Letters: billing.metricDeadLetters(),
        Waiting: billing.metricMessagesWaiting(),
        Behind: billing.metricOldestMessage(),
      };
      for (const [name, metric] of Object.entries(metrics))
        metric.createAlarm(stack, name, { threshold: 1, evaluationPeriods: 1 });
    });
    const alarmOf = (name: string) =>
      Object.entries(template.findResources("AWS::CloudWatch::Alarm")).find(([id]) =>
        id.startsWith(name),
      )?.[1].Properties;
    expect(alarmOf("Again")).toMatchObject({ MetricName: "EventsAgain", Namespace: "Mine-Events" });
    expect(JSON.stringify(alarmOf("Oldest").Metrics)).toContain("ApproximateAgeOfOldestMessage");
    const queueOf = (name: string) => JSON.stringify(alarmOf(name).Dimensions);
    expect(queueOf("Letters")).toContain("EventsSubscriberBillingDeadLetters");
    expect(queueOf("Waiting")).toContain("EventsSubscriberBillingQueue");
    expect(alarmOf("Waiting").MetricName).toBe("ApproximateNumberOfMessagesVisible");
    expect(queueOf("Behind")).toContain("EventsSubscriberBillingQueue");
    expect(alarmOf("Behind").MetricName).toBe("ApproximateAgeOfOldestMessage");
  });

  it("gives its addresses and its topic to the rest of the app", () => {
    const template = appWith((stack, add) => {
      const events = add("Events", { ...minimal, alarms: { emails: ["on-call@example.com"] } });
      const addresses = {
        Hooks: events.webhooksUrl,
        Documents: events.subscriber("billing").documentsUrl,
        Topic: events.alarmTopic?.topicArn ?? "",
      };
      for (const [name, value] of Object.entries(addresses)) new CfnOutput(stack, name, { value });
      expect(add("Silent", minimal).alarmTopic).toBeUndefined();
    });
    const outputOf = (name: string) => template.findOutputs(name)[name]?.Value;
    expect(outputOf("Hooks")).toEqual(outputOf("EventsWebhooksUrl"));
    expect(outputOf("Documents")).toEqual(outputOf("EventsDocumentsUrl"));
    expect(outputOf("Topic")).toEqual(outputOf("EventsAlarmTopicArn"));
  });

  it("lets who consumes decrypt with the app's own key as well", () => {
    const template = appWith((stack) => {
      const encryptionKey = new kms.Key(stack, "Key");
      const events = new IncomeEvents(stack, "Events", {
        stage: "test",
        where: "the test",
        codeOf,
        written: minimal,
        encryptionKey,
      });
      const reader = new iam.Role(stack, "Reader", { assumedBy: new iam.AccountRootPrincipal() });
      events.subscriber("billing").grantConsume(reader);
    });
    const [[, policy] = []] = Object.entries(template.findResources("AWS::IAM::Policy")).filter(([id]) =>
      id.startsWith("Reader"),
    );
    const statements: readonly object[] = policy?.Properties.PolicyDocument.Statement;
    expect(statements).toContainEqual(
      expect.objectContaining({
        Action: "kms:Decrypt",
        Resource: { "Fn::GetAtt": [expect.stringMatching(/^Key/), "Arn"] },
      }),
    );
  });

  it("gives its dashboard, to which an app adds widgets, and none where the settings want none", () => {
    const template = appWith((_, add) => {
      const { dashboard } = add("Events", { ...minimal, dashboard: true });
      dashboard?.addWidgets(new TextWidget({ markdown: "of the app" }));
      expect(add("Without", minimal).dashboard).toBeUndefined();
    });
    const [dashboard] = Object.values(template.findResources("AWS::CloudWatch::Dashboard"));
    expect(JSON.stringify(dashboard?.Properties)).toContain("of the app");
  });

  it.each([
    ["cn-north-1", "aws-cn"],
    ["us-gov-west-1", "aws-us-gov"],
    ["eu-central-1", "aws"],
    [undefined, undefined],
  ])("names no partition but its own, in any region: %s", (region, partition) => {
    const settings = { ...productionSettings, encryption: {}, alarms: { emails: ["on-call@example.com"] } };
    const env = region === undefined ? undefined : { region, account: "123456789012" };
    const template = appWith((_, add) => add("Events", settings), env);
    const { Resources, Outputs } = template.toJSON();
    const arns = [...JSON.stringify({ Resources, Outputs }).matchAll(/\barn:([a-z-]*):/g)].map(
      ([, name]) => name,
    );
    expect(arns.filter((name) => name !== partition)).toEqual([]);
    // A service is named so in each partition; an address of one is not.
    const hosts = JSON.stringify(Resources).match(/[\w.-]+\.amazonaws\.com[\w.]*/g) ?? [];
    expect(hosts.filter((host) => !/^[a-z]+\.amazonaws\.com$/.test(host))).toEqual([]);
  });
});
