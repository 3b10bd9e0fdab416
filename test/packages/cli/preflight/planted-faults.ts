import { packSettings, parseSettings, registrationExportName } from "../../../../lib/settings/settings.ts";
import { productionSettings } from "../../../lib/synthesized.ts";
import type { WireAnswer, WireAws } from "../../../support/wire-aws.ts";
import {
  allowing,
  bootstrapped,
  complete,
  delivery,
  json,
  limits,
  logPolicies,
  noStack,
  quotas,
  root,
  stackXml,
  xml,
} from "./wire-answers.ts";

export const keyArn = "arn:aws:kms:eu-central-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e";
const topicArn = "arn:aws:sns:eu-central-1:123456789012:on-call";
export const ownTopic = "arn:aws:sns:eu-central-1:123456789012:income-events-prod-AlarmsTopic";

/** Answers about the stage's stack and CDK's. */
export function answerStacks(aws: WireAws, own: WireAnswer, toolkit: WireAnswer = bootstrapped("21")) {
  aws.answers.set("DescribeStacks", ({ body }) => (body.includes("CDKToolkit") ? toolkit : own));
}

export const formerKeyArn = keyArn.replace("0f8fad5b-d9cb", "7c9e6679-7425");

/** The stage's stack is deployed with a key, according to its outputs. */
export function standsWithKey(aws: WireAws, deployed: string) {
  const settings = parseSettings({ ...productionSettings, encryption: { keyArn: deployed } }, "deployed");
  const SettingsPacked = packSettings(settings) ?? "";
  answerStacks(aws, stackXml("income-events-prod", complete, { SettingsPacked }));
}

/** The stack's status, and whether it is protected. */
const standsAs =
  (status: string, isProtected = false) =>
  (aws: WireAws) => {
    const protection = isProtected ? "<EnableTerminationProtection>true</EnableTerminationProtection>" : "";
    answerStacks(aws, stackXml("income-events-prod", `<StackStatus>${status}</StackStatus>${protection}`));
  };
const keyIs = (facts: object) => (aws: WireAws) =>
  aws.answers.set("DescribeKey", json({ KeyMetadata: { KeyId: "k", KeyState: "Enabled", ...facts } }));

/** A problem that prevents a deployment, and its finding. */
type Planted = readonly [name: string, plant: (aws: WireAws) => unknown, expected: RegExp, settings: object];
const alarms = { topicArn };
const admitsCloudWatch = JSON.stringify({
  Statement: { Effect: "Allow", Principal: { Service: "cloudwatch.amazonaws.com" }, Action: "SNS:Publish" },
});
function answerTopic(aws: WireAws, attributes: Readonly<Record<string, string>>) {
  const entries = Object.entries(attributes).map(
    ([key, value]) => `<entry><key>${key}</key><value>${value.replaceAll('"', "&quot;")}</value></entry>`,
  );
  aws.answers.set(
    "GetTopicAttributes",
    xml("GetTopicAttributes", `<Attributes>${entries.join("")}</Attributes>`),
  );
}
export const subscriptions = (aws: WireAws, arn: string) =>
  aws.answers.set(
    "ListSubscriptionsByTopic",
    xml(
      "ListSubscriptionsByTopic",
      `<Subscriptions><member><Endpoint>on-call@example.com</Endpoint><Protocol>email</Protocol><SubscriptionArn>${arn}</SubscriptionArn><TopicArn>${ownTopic}</TopicArn></member></Subscriptions>`,
    ),
  );
export const standing = (aws: WireAws) =>
  answerStacks(aws, stackXml("income-events-prod", complete, { AlarmTopicArn: ownTopic }));
export const exported = (stack: string) =>
  `<Exports><member><ExportingStackId>arn:aws:cloudformation:eu-central-1:123456789012:stack/${stack}/1</ExportingStackId><Name>${registrationExportName("https://api.income-provider.com")}</Name><Value>https://api.income-provider.com</Value></member></Exports>`;

export const planted: readonly Planted[] = [
  [
    "a setting above the quota of executions",
    () => undefined,
    /allows 1000 concurrent executions .* says 2000/,
    { accountConcurrency: 2_000 },
  ],
  [
    "reservations that the account's others leave no room for",
    (aws) => aws.answers.set("/2016-08-19/account-settings", limits(1_000, 150)),
    /reserves 80 .* and 150 are left for it/,
    { accountConcurrency: 1_000, functions: { receive: { reservedConcurrency: 20 } } },
  ],
  [
    "a new account's quota",
    (aws) => aws.answers.set("/2016-08-19/account-settings", limits(10)),
    /has 10 concurrent executions .*request-service-quota-increase/,
    {},
  ],
  [
    "a log delivery policy that is nearly full",
    (aws) => aws.answers.set("DescribeResourcePolicies", logPolicies(delivery("x".repeat(5_000)))),
    /AWSLogDeliveryWrite20150319 of CloudWatch Logs has 120 of 5120 characters left/,
    {},
  ],
  [
    "as many log policies as an account may have, none of them for deliveries",
    (aws) => {
      const policies = Array.from({ length: 10 }, (_, index) => ({
        policyName: `p${index}`,
        policyDocument: "{}",
      }));
      aws.answers.set("DescribeResourcePolicies", logPolicies(...policies));
    },
    /has 10 resource policies/,
    {},
  ],
  [
    "another stage that registers with the provider",
    (aws) => aws.answers.set("ListExports", xml("ListExports", exported("income-events-other"))),
    /The stack income-events-other registers .*register\.enabled/,
    {},
  ],
  [
    "no bootstrap",
    (aws) =>
      answerStacks(aws, noStack, {
        ...noStack,
        body: noStack.body.replace("income-events-prod", "CDKToolkit"),
      }),
    /is not bootstrapped in eu-central-1.*npx cdk bootstrap aws:\/\/123456789012\/eu-central-1/,
    {},
  ],
  [
    "an old bootstrap",
    (aws) => answerStacks(aws, noStack, bootstrapped("5")),
    /has version 5 of CDK's bootstrap/,
    {},
  ],
  [
    "a creation that failed and can't be removed",
    standsAs("ROLLBACK_COMPLETE", true),
    /ROLLBACK_COMPLETE and is protected .*--no-enable-termination-protection/,
    {},
  ],
  [
    "a creation whose rollback failed",
    standsAs("ROLLBACK_FAILED", true),
    /ROLLBACK_FAILED and is protected .*describe-stack-events.*--no-enable-termination-protection/,
    {},
  ],
  [
    "a rollback that failed",
    standsAs("UPDATE_ROLLBACK_FAILED"),
    /UPDATE_ROLLBACK_FAILED.*npx cdk rollback -c stage=prod/,
    {},
  ],
  ["a deployment that is under way", standsAs("UPDATE_IN_PROGRESS"), /UPDATE_IN_PROGRESS/, {}],
  [
    "an address that has not confirmed",
    (aws) => {
      standing(aws);
      subscriptions(aws, "PendingConfirmation");
    },
    /on-call@example\.com has not confirmed .*within 48 hours/,
    {},
  ],
  [
    "an address that SNS has forgotten",
    (aws) => {
      standing(aws);
      aws.answers.set("ListSubscriptionsByTopic", xml("ListSubscriptionsByTopic", "<Subscriptions/>"));
    },
    /SNS has forgotten the address.*aws sns subscribe/,
    {},
  ],
  [
    "a topic that is not there",
    (aws) =>
      aws.answers.set("GetTopicAttributes", {
        status: 404,
        body: "<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code><Message>Topic does not exist</Message></Error></ErrorResponse>",
      }),
    /There is no topic/,
    { alarms },
  ],
  [
    "a topic that does not admit CloudWatch",
    (aws) => {
      const policy = JSON.stringify({
        Statement: { Effect: "Allow", Principal: { AWS: root }, Action: "SNS:*", Resource: "*" },
      });
      answerTopic(aws, { Policy: policy });
    },
    /does not let CloudWatch publish/,
    { alarms },
  ],
  [
    "a topic with SNS's own key",
    (aws) => {
      answerTopic(aws, { Policy: admitsCloudWatch, KmsMasterKeyId: "alias/aws/sns" });
      aws.answers.set("DescribeKey", json({ KeyMetadata: { KeyId: "k", KeyManager: "AWS" } }));
    },
    /encrypted with SNS's own key.*KmsMasterKeyId/,
    { alarms },
  ],
  [
    "a topic whose key does not admit CloudWatch",
    (aws) => {
      answerTopic(aws, { Policy: admitsCloudWatch, KmsMasterKeyId: keyArn });
      aws.answers.set("GetKeyPolicy", allowing("logs.eu-central-1.amazonaws.com"));
    },
    /0f8fad5b.*, with which the topic .* is encrypted, does not admit CloudWatch/,
    { alarms },
  ],
  [
    "a key that is disabled",
    keyIs({ KeyState: "Disabled" }),
    /is Disabled.*aws kms enable-key/,
    { encryption: { keyArn } },
  ],
  ["a key that is not symmetric", keyIs({ KeySpec: "RSA_2048" }), /is RSA_2048/, { encryption: { keyArn } }],
  [
    "a key that is not there",
    (aws) =>
      aws.answers.set("DescribeKey", {
        status: 400,
        body: JSON.stringify({ __type: "NotFoundException", message: "Key does not exist" }),
      }),
    /There is no key/,
    { encryption: { keyArn } },
  ],
  [
    "a key's policy without CloudWatch",
    (aws) => aws.answers.set("GetKeyPolicy", allowing("logs.eu-central-1.amazonaws.com")),
    /does not admit cloudwatch\.amazonaws\.com.*income-events key-policy --stage prod/,
    { encryption: { keyArn } },
  ],
  [
    "a key's policy without CloudWatch Logs",
    (aws) => aws.answers.set("GetKeyPolicy", allowing("cloudwatch.amazonaws.com")),
    /does not admit logs\.eu-central-1\.amazonaws\.com.*income-events key-policy --stage prod/,
    { encryption: { keyArn } },
  ],
  [
    "a key's policy without a subscriber",
    () => undefined,
    /does not admit arn:aws:iam::111122223333:root/,
    { encryption: { keyArn }, subscribers: [{ name: "other", principals: ["111122223333"] }] },
  ],
  ...[{}, { encryption: { keyArn } }].map(
    (settings): Planted => [
      `a key of the deployed stack that is forgotten by ${JSON.stringify(settings)}`,
      (aws) => standsWithKey(aws, formerKeyArn),
      /encrypts with .*7c9e6679.*add it to encryption\.previousKeyArns in stages\/prod\.json/,
      settings,
    ],
  ),
  [
    "a topic in another region",
    (aws) => answerTopic(aws, { Policy: admitsCloudWatch }),
    /alarms\.topicArn is in us-east-1/,
    { alarms: { topicArn: topicArn.replace("eu-central-1", "us-east-1") } },
  ],
  [
    "a certificate in another region",
    () => undefined,
    /webhooks\.customDomain\.certificateArn is in us-east-1/,
    {
      webhooks: {
        customDomain: {
          name: "hooks.company.com",
          certificateArn: "arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b",
        },
      },
    },
  ],
  [
    "a key in another region",
    () => undefined,
    /encryption\.keyArn is in us-east-1/,
    { encryption: { keyArn: keyArn.replace("eu-central-1", "us-east-1") } },
  ],
  [
    "a rate above the account's",
    (aws) => aws.answers.set("ListServiceQuotas", quotas(20, 5_000)),
    /webhooks\.throttle\.requestsPerSecond is 50, and API Gateway lets 20 through/,
    {},
  ],
  [
    "a throttle above the account's",
    (aws) => aws.answers.set("ListServiceQuotas", quotas(10_000, 60)),
    /webhooks\.throttle\.burst is 100, and API Gateway lets 60 through/,
    {},
  ],
];
