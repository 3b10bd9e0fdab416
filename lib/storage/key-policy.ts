import type { Stack } from "aws-cdk-lib";
import { principalArnOf } from "../relay/subscribers.ts";
import type { Settings } from "../settings/settings.ts";

/**
 * The statements that the policy of the customer's key needs for those who are no roles of this account: the
 * stack can't change the policy of a key that it is given. Sources: CloudWatch Logs user guide, "Encrypt log
 * data"; SQS and SNS developer guides, "Key management".
 */
export function keyPolicyStatements(stack: Stack, { subscribers, alarms }: Settings): readonly object[] {
  const { partition, region, account } = stack;
  const logGroups = `arn:${partition}:logs:${region}:${account}:log-group:*`;
  const readers = new Set(subscribers.flatMap(({ principals }) => principals));
  return [
    {
      Sid: "LogGroupsOfIncomeEvents",
      Effect: "Allow",
      Principal: { Service: `logs.${region}.amazonaws.com` },
      Action: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
      Resource: "*",
      Condition: { ArnLike: { "kms:EncryptionContext:aws:logs:arn": logGroups } },
    },
    ...(alarms.emails === undefined
      ? []
      : [
          {
            Sid: "AlarmsOfIncomeEvents",
            Effect: "Allow",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
            Resource: "*",
            Condition: { StringEquals: { "aws:SourceAccount": account } },
          },
        ]),
    ...(readers.size === 0
      ? []
      : [
          {
            Sid: "ReadersOfSubscribersQueues",
            Effect: "Allow",
            Principal: { AWS: [...readers].map((principal) => principalArnOf(principal, partition)) },
            Action: "kms:Decrypt",
            Resource: "*",
            Condition: { StringEquals: { "kms:ViaService": `sqs.${region}.amazonaws.com` } },
          },
        ]),
  ];
}
