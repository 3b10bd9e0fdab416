import { CfnOutput, Duration, Fn, Size, Stack } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import * as acm from "aws-cdk-lib/aws-certificatemanager";
import { TextWidget } from "aws-cdk-lib/aws-cloudwatch";
import * as iam from "aws-cdk-lib/aws-iam";
import * as route53 from "aws-cdk-lib/aws-route53";
import * as sns from "aws-cdk-lib/aws-sns";
import { expect, test } from "vitest";
import { addTo, customDomain, productionSettings, propertiesOf, quickApp } from "./synthesized.ts";

const stackWith = (...pipelines: readonly (readonly [id: string, written: object])[]) => {
  const stack = new Stack(quickApp(), "Mine");
  return { stack, made: pipelines.map(([id, written]) => addTo(stack)(id, written)) };
};

test("others of the app refer to the table, the API and its name", () => {
  const { stack, made } = stackWith(["Named", { ...productionSettings, webhooks: { customDomain } }]);
  new CfnOutput(stack, "Table", { value: made[0]?.table.tableArn ?? "" });
  new CfnOutput(stack, "Api", { value: made[0]?.api.apiId ?? "" });
  new CfnOutput(stack, "Target", { value: made[0]?.domainName?.regionalDomainName ?? "" });
  const outputOf = (name: string) => JSON.stringify(Template.fromStack(stack).findOutputs(name)[name]?.Value);
  expect(outputOf("Table")).toMatch(/"NamedEventsTable[0-9A-F]{8}","Arn"/);
  expect(outputOf("Api")).toMatch(/"Ref":"NamedApi[0-9A-F]{8}"/);
  expect(outputOf("Target")).toMatch(/"NamedDomainName[0-9A-F]{8}","RegionalDomainName"/);
  expect(stackWith(["Nameless", productionSettings]).made[0]?.domainName).toBeUndefined();
});

test("functions are known by their names in log lines, also before all subscribers are", () => {
  const { stack, made } = stackWith(["Events", productionSettings]);
  const [events] = made;
  const relay = events?.functions.get("relay/changes");
  relay?.grantInvoke(new iam.Role(stack, "Caller", { assumedBy: new iam.AccountRootPrincipal() }));
  new CfnOutput(stack, "Relay", { value: relay?.functionArn ?? "" });
  events?.addSubscriber({ name: "late" });
  const template = Template.fromStack(stack);
  const arn = { "Fn::GetAtt": [Match.stringLikeRegexp("^EventsRelayChangesFunction"), "Arn"] };
  template.hasOutput("Relay", { Value: arn });
  template.hasResourceProperties("AWS::IAM::Policy", {
    PolicyDocument: {
      Statement: [Match.objectLike({ Action: "lambda:InvokeFunction", Resource: Match.arrayWith([arn]) })],
    },
  });
  const [changes] = propertiesOf(template, "AWS::Lambda::Function", "EventsRelayChangesFunction");
  expect(JSON.stringify(changes.Environment)).toContain("EventsSubscriberLate");
  expect(() => events?.addSubscriber({ name: "later" })).toThrow("before the app is synthesized");
});

test.each([
  ["in production", productionSettings],
  [
    "read by invocation, without a registration",
    { production: false, reading: "invoke", register: { enabled: false } },
  ],
  [
    "without reading, with a canary and readiness",
    { production: false, reading: "none", canary: {}, readiness: { endpoints: ["income"] } },
  ],
])("before and after synthesis the same functions are known: %s", (_, settings) => {
  const { stack, made } = stackWith(["Events", settings]);
  const names = () => [...(made[0]?.functions.keys() ?? [])].toSorted();
  const before = names();
  Template.fromStack(stack);
  expect(names()).toEqual(before);
});

test("the app's widgets stand below the pipeline's, and subscribers may follow them", () => {
  const { stack, made } = stackWith(["Events", { ...productionSettings, dashboard: true }]);
  made[0]?.dashboard?.addWidgets(new TextWidget({ markdown: "ours" }));
  made[0]?.addSubscriber({ name: "later" });
  const [body] = Object.values(Template.fromStack(stack).findResources("AWS::CloudWatch::Dashboard"));
  const text = JSON.stringify(body?.Properties.DashboardBody);
  expect(text).toMatch(/^.*From the webhook to the subscriber.*EventsSubscriberLater.*ours/);
});

const { certificateArn: _, ...nameAlone } = customDomain;

test("a certificate and a hosted zone of the app are taken, and the name leads to the API", () => {
  const stack = new Stack(quickApp(), "Mine");
  const hostedZone = route53.HostedZone.fromHostedZoneAttributes(stack, "Zone", {
    hostedZoneId: "Z1",
    zoneName: "example.com",
  });
  const certificate = new acm.Certificate(stack, "Certificate", { domainName: nameAlone.name });
  addTo(stack)(
    "Events",
    { production: false, webhooks: { customDomain: nameAlone } },
    { hostedZone, certificate },
  );
  const template = Template.fromStack(stack);
  template.hasResourceProperties("AWS::ApiGatewayV2::DomainName", {
    DomainNameConfigurations: [{ CertificateArn: { Ref: Match.stringLikeRegexp("^Certificate") } }],
  });
  template.hasResourceProperties("AWS::Route53::RecordSet", {
    Name: "hooks.example.com.",
    HostedZoneId: "Z1",
    AliasTarget: {
      DNSName: { "Fn::GetAtt": [Match.stringLikeRegexp("^EventsDomainName"), "RegionalDomainName"] },
    },
  });
});

test.each([
  ["no name", {}, "hostedZone: has no name to lead to the API"],
  ["a distribution before it", { customDomain: { ...nameAlone, behindCloudFront: true } }, "past CloudFront"],
])("a hosted zone is refused with %s", (_, webhooks, refusal) => {
  const stack = new Stack(quickApp(), "Mine");
  const hostedZone = route53.HostedZone.fromHostedZoneId(stack, "Zone", "Z1");
  const certificate = acm.Certificate.fromCertificateArn(
    stack,
    "Certificate",
    "arn:aws:acm:eu-west-1:1:certificate/1",
  );
  const given = "customDomain" in webhooks ? { hostedZone, certificate } : { hostedZone };
  expect(() => addTo(stack)("Events", { production: false, webhooks }, given)).toThrow(refusal);
});

test("durations, sizes, principals and ARNs that are known at deploy time are settings as CDK writes them", () => {
  const stack = new Stack(quickApp(), "Mine");
  const topicArn = new sns.Topic(stack, "Topic").topicArn;
  const events = addTo(stack)("Events", {
    production: false,
    alarms: { topicArn },
    retention: { logsDays: Duration.days(14) },
    functions: { fetch: { memoryMb: Size.gibibytes(2), timeoutSeconds: Duration.minutes(2) } },
  });
  events.addSubscriber({
    name: "risk",
    retentionDays: Duration.days(3),
    principals: [
      new iam.AccountPrincipal("210987654321"),
      new iam.ArnPrincipal("arn:aws:iam::111122223333:role/r"),
    ],
  });
  const template = Template.fromStack(stack);
  template.hasResourceProperties("AWS::Lambda::Function", { MemorySize: 2_048, Timeout: 120 });
  template.hasResourceProperties("AWS::Logs::LogGroup", { RetentionInDays: 14 });
  template.hasResourceProperties("AWS::SQS::Queue", { MessageRetentionPeriod: 259_200 });
  const [alarm] = Object.values(template.findResources("AWS::CloudWatch::Alarm"));
  expect(alarm?.Properties.AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Topic/) }]);
  const policies = JSON.stringify(template.findResources("AWS::SQS::QueuePolicy"));
  expect(policies).toContain("arn:aws:iam::111122223333:role/r");
});

test.each([
  [
    "a duration that is no whole number of its unit",
    { register: { everyHours: Duration.minutes(90) } },
    /^.*\n {2}register.everyHours: .*whole/,
  ],
  [
    "a size for a time",
    { register: { everyHours: Size.mebibytes(1) } },
    /register.everyHours: takes a number or a Duration/,
  ],
  [
    "a duration for a number",
    { fetch: { maxConcurrency: Duration.hours(2) } },
    /fetch.maxConcurrency: takes neither/,
  ],
  [
    "an account that is known at deploy time only",
    { subscribers: [{ name: "risk", principals: [new iam.AccountRootPrincipal()] }] },
    /subscribers.0.principals.0: is known at deploy time only; pass the role or user of your app itself/,
  ],
  [
    "an ARN as text that is known at deploy time only",
    { subscribers: [{ name: "risk", principals: [Fn.importValue("Role")] }] },
    /subscribers.0.principals.0: is known at deploy time only; .* or write an account's 12 digits/,
  ],
])("refuses %s", (_, settings, refusal) => {
  expect(() => stackWith(["Events", { production: false, ...settings }])).toThrow(refusal);
});

test.each([
  ["url", "lambda:InvokeFunctionUrl"],
  ["invoke", "lambda:InvokeFunction"],
  ["none", undefined],
])("a role and a user of the app are principals: reading is %s", (reading, reads) => {
  const stack = new Stack(quickApp(), "Mine");
  const role = new iam.Role(stack, "Role", { assumedBy: new iam.AccountRootPrincipal() });
  const user = new iam.User(stack, "User");
  const literal = "arn:aws:iam::111122223333:role/r";
  const subscribers = [{ name: "risk", documents: "inline", principals: [role, literal] }];
  addTo(stack)("Events", { production: false, reading, subscribers }).addSubscriber({
    name: "later",
    documents: "inline",
    principals: [user],
  });
  const template = Template.fromStack(stack);
  const policies = Object.values(template.findResources("AWS::IAM::Policy")).map((each) =>
    JSON.stringify(each),
  );
  expect(policies).toHaveLength(2);
  for (const [owner, queue] of [
    ["Role", "Risk"],
    ["User", "Later"],
  ]) {
    const policy = policies.find((text) => text.includes(`"PolicyName":"${owner}`));
    expect(policy).toContain("sqs:ReceiveMessage");
    expect(policy).toContain(`EventsSubscriber${queue}`);
    if (reads !== undefined) expect(policy).toContain(`"${reads}"`);
    else expect(policy).not.toContain("lambda:");
  }
  expect(JSON.stringify(template.findResources("AWS::SQS::QueuePolicy"))).toContain(literal);
});

test("a role of the app in another account is refused with the remedy", () => {
  const app = quickApp();
  const env = { region: "eu-central-1" };
  const elsewhere = new Stack(app, "Elsewhere", { env: { ...env, account: "210987654321" } });
  const role = new iam.Role(elsewhere, "Role", { assumedBy: new iam.AccountRootPrincipal() });
  const stack = new Stack(app, "Mine", { env: { ...env, account: "111122223333" } });
  const written = { production: false, subscribers: [{ name: "risk", principals: [role] }] };
  expect(() => addTo(stack)("Events", written)).toThrow(
    /Elsewhere.Role is in the account 210987654321, .*write its ARN as the principal/,
  );
});

test("a stack of two production pipelines with 12 subscribers each is refused with a remedy", () => {
  const subscribers = Array.from({ length: 12 }, (_, index) => ({ name: `s${index}` }));
  const full = { ...productionSettings, subscribers };
  const { stack } = stackWith(["First", full], ["Second", { ...full, register: { enabled: false } }]);
  expect(() => Template.fromStack(stack)).toThrow(
    /Mine has \d{3} resources, and CloudFormation takes 500 in a stack: give each pipeline a stack of its own/,
  );
});
