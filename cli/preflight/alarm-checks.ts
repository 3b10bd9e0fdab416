import {
  GetTopicAttributesCommand,
  NotFoundException,
  paginateListSubscriptionsByTopic,
  type SNSClient,
} from "@aws-sdk/client-sns";
import type { PreflightCheck } from "./account.ts";
import type { Finding } from "./finding.ts";
import { allows, parsePolicy } from "./policy.ts";
import { findStack, outputOf } from "./stack-checks.ts";

export const alarmRecipientsCheck: PreflightCheck = {
  name: "the recipients of alarms",
  examine: async ({ account, settings, stackName }) => {
    const { emails, topicArn } = settings.alarms;
    if (topicArn !== undefined) return checkGivenTopic(account.sns, topicArn);
    if (emails === undefined) return [];
    const stack = await findStack(account.cloudFormation, stackName);
    const own = stack && outputOf(stack, "AlarmTopicArn");
    return own === undefined ? [] : checkSubscriptions(account.sns, own, emails);
  },
};

async function checkGivenTopic(sns: SNSClient, topicArn: string): Promise<readonly Finding[]> {
  const why = "Alarms go off, and nobody is notified.";
  try {
    const { Attributes = {} } = await sns.send(new GetTopicAttributesCommand({ TopicArn: topicArn }));
    if (allows(parsePolicy(Attributes.Policy), "cloudwatch.amazonaws.com", "sns:Publish")) return [];
    return [
      {
        what: `The policy of the topic ${topicArn} does not let CloudWatch publish.`,
        why,
        fix: `aws sns set-topic-attributes --topic-arn ${topicArn} --attribute-name Policy --attribute-value FILE    with cloudwatch.amazonaws.com and sns:Publish`,
      },
    ];
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
    return [
      { what: `There is no topic ${topicArn}.`, why, fix: "correct alarms.topicArn, or set alarms.emails" },
    ];
  }
}

/**
 * SNS forgets an address that does not follow its link within 48 hours. Source: SNS developer guide, "Subscription
 * confirmation".
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
        why: "Alarms go off, and nobody reads of them at that address.",
        fix: isPending
          ? "follow the link in the mail of AWS Notifications, within 48 hours of the deployment"
          : `aws sns subscribe --topic-arn ${topicArn} --protocol email --notification-endpoint ${email}`,
      },
    ];
  });
}
