import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Aspects, CfnOutput, CfnResource, Stack, Tags } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as sns from "aws-cdk-lib/aws-sns";
import { afterAll, describe, expect, it } from "vitest";
import { IncomeEvents } from "../../lib/construct/income-events.ts";
import { pipelinesIn, resourcesOf } from "../../packages/cli/core/pipelines.ts";
import { messageOf, settingsInError } from "./settings/settings-in-error.ts";
import { addTo, appWith, keyArn, productionSettings, propertiesOf, quickApp } from "./synthesized.ts";

const codeOf = () => lambda.Code.fromInline("// stand-in");
const inRegion = { region: "eu-central-1" };
const minimal = { production: false, subscribers: [{ name: "billing" }] };

describe("the construct in a stack of an app", () => {
  it("can be added twice, without a shared name, output or metric", () => {
    const template = appWith((_, add) => {
      add("First", { ...minimal, dashboard: true, register: { enabled: true } });
      add("Second", { ...minimal, dashboard: true, register: { enabled: false } });
    });
    const outputs = Object.keys(template.findOutputs("*"));
    expect(outputs).toEqual(expect.arrayContaining(["FirstWebhooksUrl", "SecondWebhooksUrl"]));
    const filters = Object.values(template.findResources("AWS::Logs::MetricFilter"));
    const namespaces = filters.map(({ Properties }) => Properties.MetricTransformations[0].MetricNamespace);
    expect(new Set(namespaces)).toEqual(new Set(["Mine-First", "Mine-Second"]));
    const logGroups = Object.values(template.findResources("AWS::Logs::LogGroup"));
    const names = logGroups.map(({ Properties }) => JSON.stringify(Properties.LogGroupName)).filter(Boolean);
    expect(new Set(names).size).toBe(2);
  });

  it("distinguishes the logs and alarms of a stack's pipelines by the prefix of their outputs", () => {
    const ids = ["Payroll", "PayrollTest"];
    const templateWith = (given: readonly string[]) =>
      appWith((_, add) => given.forEach((id) => void add(id, minimal)));
    const [template, alone] = [templateWith(ids), templateWith(["Payroll"])];
    const names = Object.keys(template.findOutputs("*"));
    const pipelines = pipelinesIn("Mine", Object.fromEntries(names.map((name) => [name, "told"])));
    expect(pipelines.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const type of ["AWS::Logs::LogGroup", "AWS::CloudWatch::Alarm"]) {
      const all = Object.keys(template.findResources(type));
      const count = Object.keys(alone.findResources(type)).length;
      expect(count).toBeGreaterThan(5);
      const own = pipelines.map((pipeline) => all.filter((id) => resourcesOf(pipeline, pipelines).test(id)));
      expect(own.map(({ length }) => length)).toEqual([count, count]);
      expect(own.flat().toSorted()).toEqual(all.toSorted());
    }
  });

  it("protects its table in production, and leaves the protection of the app's stack alone", () => {
    const template = appWith((_, add) => add("Events", productionSettings));
    template.resourceCountIs("Custom::ProtectedTable", 1);
    expect(JSON.stringify(template.toJSON())).not.toContain("UpdateTerminationProtection");
  });

  it("lists its subscribers", () => {
    appWith((_, add) => {
      const events = add("Events", minimal);
      expect(() => events.subscriber("risk")).toThrow("Mine/Events has no subscriber risk; it has: billing");
    });
  });

  it("lets a subscriber be added that the settings don't name, by the same rules", () => {
    const template = appWith((_, add) => {
      const events = add("Events", minimal);
      events.addSubscriber({ name: "risk", types: ["account.*"] });
      expect(() => events.addSubscriber({ name: "billing" })).toThrow("has a name twice");
      expect(() => events.addSubscriber({ name: "other", retentionDays: 15 })).toThrow(
        "subscribers.2.retentionDays",
      );
    });
    const { Value } = template.findOutputs("EventsSubscribers").EventsSubscribers ?? {};
    expect(JSON.stringify(Value)).toContain("risk");
    const [relay] = propertiesOf(template, "AWS::Lambda::Function", "EventsRelay");
    expect(JSON.stringify(relay.Environment)).toContain("EventsSubscriberRiskQueue");
    // Each of two pipelines in one stack finds its own.
    const Tags = [{ Key: "income-events:subscriber-of", Value: "Mine-Events" }];
    template.resourcePropertiesCountIs("AWS::SQS::Queue", { Tags }, 4);
  });

  it("encrypts with a key of the app's own, whose policy it completes, and alarms a topic of its own", () => {
    const template = appWith((stack, add) => {
      const encryptionKey = new kms.Key(stack, "Key");
      const alarmTopic = new sns.Topic(stack, "Topic");
      const { alarms: _alarms, ...settings } = productionSettings;
      add("Events", settings, { encryptionKey, alarmTopic });
    }, inRegion);
    const [table] = propertiesOf(template, "AWS::DynamoDB::GlobalTable");
    expect(JSON.stringify(table.Replicas)).toMatch(/Key[0-9A-F]{8}/);
    const [key] = propertiesOf(template, "AWS::KMS::Key");
    const policy = JSON.stringify(key.KeyPolicy.Statement);
    expect(policy).toContain('"Service":"logs.eu-central-1.amazonaws.com"');
    expect(policy).toContain(":Mine-EventsSubscriberRiskTeamQueue");
    const alarms = propertiesOf(template, "AWS::CloudWatch::Alarm");
    expect(alarms.length).toBeGreaterThan(10);
    for (const { AlarmActions } of alarms) expect(JSON.stringify(AlarmActions)).toMatch(/Topic/);
  });

  it("refuses two keys", () => {
    const both = () =>
      appWith((stack, add) =>
        add("Events", { ...minimal, encryption: { keyArn } }, { encryptionKey: new kms.Key(stack, "Key") }),
      );
    expect(both).toThrow("encryption.keyArn: is another one than encryptionKey; leave one of them out");
  });

  it("has a topic whose display name fits, in a stack with a long name", () => {
    const stack = new Stack(quickApp(), "Stack".repeat(25));
    addTo(stack)("Events", { ...minimal, alarms: { emails: ["ops@example.com"] } });
    const [topic] = Object.values(Template.fromStack(stack).findResources("AWS::SNS::Topic"));
    // SNS's maximum.
    expect(topic?.Properties.DisplayName).toHaveLength(100);
  });

  it("has a metric of dead letters within the ten that an alarm combines, however many subscribers there are", () => {
    const subscribers = Array.from({ length: 12 }, (_, index) => ({ name: `subscriber${index}` }));
    const template = appWith((stack, add) => {
      const events = add("Events", { ...minimal, subscribers, readiness: { endpoints: ["income"] } });
      events.metricDeadLetters().createAlarm(stack, "Dead", { threshold: 1, evaluationPeriods: 1 });
    });
    const [alarm] = propertiesOf(template, "AWS::CloudWatch::Alarm", "Dead");
    // One is the expression.
    expect(alarm.Metrics.length).toBeLessThanOrEqual(11);
    expect(alarm.Metrics.length).toBeGreaterThan(1);
  });

  it("counts ignored events by name, and names them in an output", () => {
    const ignoring = { ...minimal, mapping: { accounts: { types: { ping: "ignore" as const } } } };
    const template = appWith((stack, add) => void [stack, add("Events", ignoring)]);
    const Dimensions = [{ Key: "EventName", Value: "$.name" }];
    const named = { MetricName: "EventsIgnored", MetricNamespace: "Mine-Events", MetricValue: "$.count" };
    const filter = { MetricTransformations: [{ ...named, Dimensions }] };
    template.hasResourceProperties("AWS::Logs::MetricFilter", filter);
    const names = ["connect_flow", "ping"];
    template.hasOutput("EventsIgnoredEvents", { Value: JSON.stringify({ namespace: "Mine-Events", names }) });
  });

  it("applies an app's aspects and tags to all resources, including those created last", () => {
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
    for (const type of ["AWS::Lambda::Function", "AWS::SQS::Queue"])
      for (const { Properties } of Object.values(template.findResources(type)))
        expect(Properties.Tags).toContainEqual({ Key: "team", Value: "income" });
  });

  it("gives metrics of the pipeline and of each subscriber, on which an app puts alarms of its own", () => {
    const template = appWith((stack, add) => {
      const events = add("Events", minimal);
      const billing = events.subscriber("billing");
      const metrics = {
        Stored: events.metricEventsStored(),
        Again: events.metricDuplicateEvents(),
        Oldest: events.metricOldestEvent(),
        Letters: billing.metricDeadLetters(),
        Waiting: billing.metricMessagesWaiting(),
        Behind: billing.metricOldestMessage(),
      };
      for (const [name, metric] of Object.entries(metrics))
        metric.createAlarm(stack, name, { threshold: 1, evaluationPeriods: 1 });
    });
    const alarmOf = (name: string) => propertiesOf(template, "AWS::CloudWatch::Alarm", name)[0];
    for (const [name, MetricName] of [
      ["Stored", "EventsStored"],
      ["Again", "DuplicateEvents"],
    ] as const) {
      expect(alarmOf(name)).toMatchObject({ MetricName, Namespace: "Mine-Events" });
      const MetricTransformations = [{ MetricName, MetricNamespace: "Mine-Events" }];
      template.hasResourceProperties("AWS::Logs::MetricFilter", { MetricTransformations });
    }
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

  it("lets consumers decrypt with the app's own key, and with former ones", () => {
    const former = "arn:aws:kms:eu-central-1:123456789012:key/7c9e6679-7425-40de-944b-e07fc1f90ae7";
    const template = appWith((stack, add) => {
      const settings = { ...minimal, encryption: { previousKeyArns: [former] } };
      const events = add("Events", settings, { encryptionKey: new kms.Key(stack, "Key") });
      const reader = new iam.Role(stack, "Reader", { assumedBy: new iam.AccountRootPrincipal() });
      events.subscriber("billing").grantConsume(reader);
    }, inRegion);
    const [policy] = propertiesOf(template, "AWS::IAM::Policy", "Reader");
    const statements: readonly object[] = policy.PolicyDocument.Statement;
    for (const Resource of [former, { "Fn::GetAtt": [expect.stringMatching(/^Key/), "Arn"] }])
      expect(statements).toContainEqual(expect.objectContaining({ Action: "kms:Decrypt", Resource }));
  });

  it.each([
    ["eusc-de-east-1", "aws-eusc"],
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
    // A service principal is the same in each partition; a hostname is not.
    const hosts = JSON.stringify(Resources).match(/[\w.-]+\.amazonaws\.com[\w.]*/g) ?? [];
    expect(hosts.filter((host) => !/^[a-z]+\.amazonaws\.com$/.test(host))).toEqual([]);
  });
});

describe("the construct of a settings file", () => {
  const directory = mkdtempSync(join(tmpdir(), "settings of a construct "));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "stage.json");
  const fromFile = (written: object, stage = "test") =>
    appWith((stack) => {
      writeFileSync(file, JSON.stringify(written));
      const props = { stage, file, codeOf };
      IncomeEvents.fromSettingsFile(stack, "Events", props);
    });

  it("is the one of the same properties", () => {
    for (const written of [minimal, productionSettings])
      expect(fromFile(written).toJSON()).toEqual(appWith((_, add) => add("Events", written)).toJSON());
  });

  it("refuses the same errors as the properties, in the same words, and names the file", () => {
    for (const [, wrong] of settingsInError) {
      const written = { production: false, ...wrong };
      const ofProperties = messageOf(() => appWith((_, add) => add("Events", written)));
      expect(ofProperties).toContain("Settings in the test:");
      expect(messageOf(() => fromFile(written))).toBe(ofProperties.replace("in the test:", `in ${file}:`));
    }
  });

  it("refuses a stage's name as the properties do, and says which file is not there", () => {
    expect(() => fromFile(minimal, "Prod_1")).toThrow(
      'stage: is "Prod_1"; name it in lower-case letters, digits and "-", at most 20',
    );
    const lost = { stage: "test", file: join(directory, "lost.json"), codeOf };
    expect(() => appWith((stack) => void IncomeEvents.fromSettingsFile(stack, "Events", lost))).toThrow(
      /Settings of stage test: can't read \S.*lost\.json/,
    );
  });
});
