import { DescribeKeyCommand, GetKeyPolicyCommand, NotFoundException } from "@aws-sdk/client-kms";
import {
  GetTopicAttributesCommand,
  paginateListSubscriptionsByTopic,
  type SNSClient,
  NotFoundException as TopicNotFound,
} from "@aws-sdk/client-sns";
import { fieldsOf, isFields, parseJson } from "../../../domain/core/parse.ts";
import { escapePattern } from "../../../domain/event/subjects.ts";
import { keyPolicyStatements } from "../../../lib/settings/settings.ts";
import { commandLine } from "../core/text.ts";
import type { Account, Finding, Found, Plan, PreflightCheck } from "./account.ts";
import { deployedSettings, findStack, outputOf } from "./stack-checks.ts";

export const keyCheck: PreflightCheck = {
  name: "the key",
  examine: async (plan) => {
    const { keyArn } = plan.settings.encryption;
    if (keyArn === undefined) return [];
    const broken = [await checkKey(plan, keyArn)].flat();
    return broken.length > 0 ? broken : checkKeyPolicy(plan, keyArn);
  },
};

export const keyChangeCheck: PreflightCheck = {
  name: "a change of the key",
  examine: async ({ account, stackName, stage, settings: { encryption } }) => {
    const stack = await findStack(account.clients.cloudFormation, stackName);
    if (stack === undefined) return [];
    const { encryption: deployed } = deployedSettings(stack);
    const used = isFields(deployed) ? deployed.keyArn : undefined;
    if (typeof used !== "string" || [encryption.keyArn, ...encryption.previousKeyArns].includes(used))
      return [];
    return {
      what: `The deployed stack encrypts with ${used}, which the new settings no longer name.`,
      why: "Messages and objects that it encrypted become unreadable: messages expire in their queues, reads of large documents fail, and erasures stay incomplete.",
      fix: `add it to encryption.previousKeyArns in stages/${stage}.json`,
    };
  },
};

async function checkKey({ account, stage }: Plan, keyArn: string): Promise<Found> {
  const fix = `correct encryption.keyArn in stages/${stage}.json`;
  const why = "Nothing could be encrypted: the deployment fails and is rolled back.";
  try {
    const { KeyMetadata } = await account.clients.kms.send(new DescribeKeyCommand({ KeyId: keyArn }));
    const { KeyState = "unknown", KeySpec = "unknown" } = KeyMetadata ?? {};
    const enable = commandLine`aws kms enable-key --key-id ${keyArn}`;
    if (KeyState !== "Enabled") return { what: `The key ${keyArn} is ${KeyState}.`, why, fix: enable };
    if (KeySpec === "SYMMETRIC_DEFAULT") return [];
    return [{ what: `The key ${keyArn} is ${KeySpec}, and a symmetric one is needed.`, why, fix }];
  } catch (error) {
    if (error instanceof NotFoundException) return [{ what: `There is no key ${keyArn}.`, why, fix }];
    throw error;
  }
}

async function checkKeyPolicy({ account, stage, stackName, settings }: Plan, KeyId: string): Promise<Found> {
  const { Policy } = await account.clients.kms.send(new GetKeyPolicyCommand({ KeyId }));
  const held = parsePolicy(Policy);
  const needed = parsePolicy(JSON.stringify({ Statement: keyPolicyStatements(stackName, settings) }));
  const lacking = needed.flatMap(({ principals, actions }) =>
    principals.filter((each) => !actions.every((action) => allows(held, each, action))),
  );
  return lacking.map((principal) => ({
    what: `The policy of the key ${KeyId} does not admit ${principal}.`,
    why: consequenceFor(principal),
    fix: commandLine`npx income-events key-policy --stage ${stage}    prints the statements; then: aws kms put-key-policy --key-id ${KeyId} --policy-name default --policy FILE`,
  }));
}

function consequenceFor(principal: string): string {
  if (principal.startsWith("logs."))
    return "No log group can be made: the deployment fails and is rolled back.";
  if (principal.startsWith("cloudwatch.")) return "Alarms send no mail.";
  return "That subscriber can't read its queue, or can't once a role that the policy names is created again.";
}

type Statement = {
  readonly principals: readonly string[];
  readonly actions: readonly string[];
};

/** The allowing statements of a resource policy, without conditions. */
export function parsePolicy(text: string | undefined): readonly Statement[] {
  if (text === undefined) return [];
  const { Statement } = fieldsOf(parseJson(text, "the policy"), "the policy");
  return listOf(Statement)
    .filter(isFields)
    .filter(({ Effect }) => Effect === "Allow")
    .map(({ Principal, Action }) => ({ principals: textsOf(Principal), actions: textsOf(Action) }));
}

/** Whether a policy allows an action to a principal, under whatever condition. */
export function allows(statements: readonly Statement[], principal: string, action: string): boolean {
  return statements.some(
    ({ principals, actions }) =>
      principals.some((each) => each === "*" || each === principal) &&
      actions.some((each) => matches(each, action)),
  );
}

/** Action names are compared without case; `*` matches anything. */
function matches(pattern: string, action: string): boolean {
  const parts = pattern.split("*").map(escapePattern);
  return new RegExp(`^${parts.join(".*")}$`, "i").test(action.replace(/\*$/, ""));
}

/** The texts of a value, a list, or an object of such. */
function textsOf(value: unknown): readonly string[] {
  if (isFields(value)) return Object.values(value).flatMap(textsOf);
  return listOf(value).filter((each) => typeof each === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

export const alarmRecipientsCheck: PreflightCheck = {
  name: "the recipients of alarms",
  examine: async ({ account, settings, stackName }) => {
    const { emails, topicArn } = settings.alarms;
    if (topicArn !== undefined) return checkGivenTopic(account, topicArn);
    if (emails === undefined) return [];
    const stack = await findStack(account.clients.cloudFormation, stackName);
    const own = stack && outputOf(stack, "AlarmTopicArn");
    return own === undefined ? [] : checkSubscriptions(account.clients.sns, own, emails);
  },
};

const publisher = "cloudwatch.amazonaws.com";
const why = "Alarms notify nobody.";

async function checkGivenTopic(account: Account, topicArn: string): Promise<Found> {
  try {
    const asked = new GetTopicAttributesCommand({ TopicArn: topicArn });
    const { Attributes: { Policy, KmsMasterKeyId } = {} } = await account.clients.sns.send(asked);
    const byKey = KmsMasterKeyId ? [await checkTopicKey(account, topicArn, KmsMasterKeyId)].flat() : [];
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
    if (!(error instanceof TopicNotFound)) throw error;
    return {
      what: `There is no topic ${topicArn}.`,
      why,
      fix: "correct alarms.topicArn, or set alarms.emails",
    };
  }
}

/**
 * Source: SNS developer guide, "Enable compatibility between event sources from AWS services and encrypted
 * topics".
 */
async function checkTopicKey({ clients: { kms } }: Account, topicArn: string, KeyId: string): Promise<Found> {
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
  return {
    what: `The policy of the key ${key}, with which the topic ${topicArn} is encrypted, does not admit CloudWatch.`,
    why,
    fix: `${commandLine`aws kms put-key-policy --key-id ${key} --policy-name default --policy FILE`}    with ${publisher}, ${needed.join(" and ")}`,
  };
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
    return {
      what: isPending
        ? `${email} has not confirmed to be notified of alarms.`
        : `${email} is not notified of alarms: SNS has forgotten the address, which was not confirmed within 48 hours, or which unsubscribed.`,
      why: "Alarms do not reach that address.",
      fix: isPending
        ? "follow the link in the mail of AWS Notifications, within 48 hours of the deployment"
        : commandLine`aws sns subscribe --topic-arn ${topicArn} --protocol email --notification-endpoint ${email}`,
    };
  });
}
