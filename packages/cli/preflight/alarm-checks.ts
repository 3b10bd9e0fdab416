import { DescribeKeyCommand, GetKeyPolicyCommand } from "@aws-sdk/client-kms";
import {
  GetTopicAttributesCommand,
  NotFoundException,
  paginateListSubscriptionsByTopic,
  type SNSClient,
} from "@aws-sdk/client-sns";
import { commandLine } from "../core/command-line.ts";
import type { Account, Finding, PreflightCheck } from "./account.ts";
import { allows, parsePolicy } from "./key-check.ts";
import { findStack, outputOf } from "./stack-checks.ts";

export const alarmRecipientsCheck: PreflightCheck = {
  name: "the recipients of alarms",
  examine: async ({ account, settings, stackName }) => {
    const { emails, topicArn } = settings.alarms;
    if (topicArn !== undefined) return checkGivenTopic(account, topicArn);
    if (emails === undefined) return [];
    const stack = await findStack(account.cloudFormation, stackName);
    const own = stack && outputOf(stack, "AlarmTopicArn");
    return own === undefined ? [] : checkSubscriptions(account.sns, own, emails);
  },
};

const publisher = "cloudwatch.amazonaws.com";
const why = "Alarms notify nobody.";

async function checkGivenTopic(account: Account, topicArn: string): Promise<readonly Finding[]> {
  try {
    const asked = new GetTopicAttributesCommand({ TopicArn: topicArn });
    const { Attributes: { Policy, KmsMasterKeyId } = {} } = await account.sns.send(asked);
    const byKey = KmsMasterKeyId ? await checkTopicKey(account, topicArn, KmsMasterKeyId) : [];
    if (allows(parsePolicy(Policy), publisher, "sns:Publish")) return byKey;
    return [
      {
        what: `The policy of the topic ${topicArn} does not let CloudWatch publish.`,
        why,
        fix: commandLine`aws sns set-topic-attributes --topic-arn ${topicArn} --attribute-name Policy --attribute-value FILE    with ${publisher} and sns:Publish`,
      },
      ...byKey,
    ];
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
    return [
      { what: `There is no topic ${topicArn}.`, why, fix: "correct alarms.topicArn, or set alarms.emails" },
    ];
  }
}

/**
 * Source: SNS developer guide, "Enable compatibility between event sources from AWS services and encrypted
 * topics".
 */
async function checkTopicKey({ kms }: Account, topicArn: string, KeyId: string): Promise<readonly Finding[]> {
  const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
  const key = KeyMetadata?.Arn ?? KeyId;
  if (KeyMetadata?.KeyManager === "AWS") {
    const what = `The topic ${topicArn} is encrypted with SNS's own key, whose policy does not allow CloudWatch.`;
    const fix = commandLine`aws sns set-topic-attributes --topic-arn ${topicArn} --attribute-name KmsMasterKeyId --attribute-value KEY    of a key of your own, or none`;
    return [{ what, why, fix }];
  }
  const policy = parsePolicy((await kms.send(new GetKeyPolicyCommand({ KeyId: key }))).Policy);
  const needed = ["kms:Decrypt", "kms:GenerateDataKey*"];
  if (needed.every((action) => allows(policy, publisher, action))) return [];
  return [
    {
      what: `The policy of the key ${key}, with which the topic ${topicArn} is encrypted, does not admit CloudWatch.`,
      why,
      fix: `${commandLine`aws kms put-key-policy --key-id ${key} --policy-name default --policy FILE`}    with ${publisher}, ${needed.join(" and ")}`,
    },
  ];
}

/**
 * SNS deletes a subscription that is not confirmed within 48 hours. Source: SNS developer guide,
 * "Subscription confirmation".
 */
export async function checkSubscriptions(
  sns: SNSClient,
  topicArn: string,
  emails: readonly string[],
): Promise<readonly Finding[]> {
  const states = new Map<string, string>();
  for await (const page of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn: topicArn })) {
    for (const { Endpoint = "", SubscriptionArn = "" } of page.Subscriptions ?? [])
      states.set(Endpoint, SubscriptionArn);
  }
  return emails.flatMap((email) => {
    const state = states.get(email);
    if (state?.startsWith("arn:")) return [];
    const isPending = state === "PendingConfirmation";
    return [
      {
        what: isPending
          ? `${email} has not confirmed to be notified of alarms.`
          : `${email} is not notified of alarms: SNS has forgotten the address, which was not confirmed within 48 hours, or which unsubscribed.`,
        why: "Alarms do not reach that address.",
        fix: isPending
          ? "follow the link in the mail of AWS Notifications, within 48 hours of the deployment"
          : commandLine`aws sns subscribe --topic-arn ${topicArn} --protocol email --notification-endpoint ${email}`,
      },
    ];
  });
}
