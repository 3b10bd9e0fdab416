import { pascalCase } from "../names.ts";
import { admissionsOf } from "./principals.ts";
import type { Settings } from "./settings-schema.ts";

/** Where a key of KMS is: it must be in the stage's account and region. */
type KeyPlace = {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  /** What its logical ids begin with, where the pipeline is not all of its stack. */
  readonly instance?: string;
};

/**
 * The statements that the policy of the customer's key needs for those who are no roles of this account: the stack can't
 * change the policy of a key that it is given. Sources: CloudWatch Logs user guide, "Encrypt log data"; SQS developer guide,
 * "Key management" (SQS names the queue in the encryption context, as CloudTrail shows it: `aws:sqs:arn`); SNS developer guide, "Enable compatibility between event sources from AWS services and encrypted
 * topics", which has both conditions of a service that publishes.
 * @param place needed where the ARN of the key is known at deploy time only
 */
export function keyPolicyStatements(
  stackName: string,
  { encryption, subscribers, alarms }: Settings,
  place?: KeyPlace,
): readonly object[] {
  if (encryption.keyArn === undefined) return [];
  const { partition, region, account, instance = "" } = place ?? placeOf(encryption.keyArn);
  const queues = `arn:${partition}:sqs:${region}:${account}:`;
  const statements = [
    {
      Sid: "LogGroupsOfIncomeEvents",
      Principal: { Service: `logs.${region}.amazonaws.com` },
      Action: ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
      Condition: {
        ArnLike: {
          "kms:EncryptionContext:aws:logs:arn": `arn:${partition}:logs:${region}:${account}:log-group:*`,
        },
      },
    },
    ...(alarms.emails === undefined
      ? []
      : [
          {
            Sid: "AlarmsOfIncomeEvents",
            Principal: { Service: "cloudwatch.amazonaws.com" },
            Action: ["kms:Decrypt", "kms:GenerateDataKey*"],
            Condition: {
              StringEquals: { "aws:SourceAccount": account },
              ArnLike: {
                "aws:SourceArn": `arn:${partition}:cloudwatch:${region}:${account}:alarm:${stackName}-*`,
              },
            },
          },
        ]),
    ...subscribers.flatMap(({ name, principals }) =>
      admissionsOf(principals).map(({ accounts, arns }) => ({
        Sid: `${arns ? "RolesRead" : "Reads"}${pascalCase(name)}OfIncomeEvents`,
        Principal: { AWS: accounts.map((each) => `arn:${partition}:iam::${each}:root`) },
        Action: ["kms:Decrypt"],
        Condition: {
          StringEquals: { "kms:ViaService": `sqs.${region}.amazonaws.com` },
          ArnLike: {
            "kms:EncryptionContext:aws:sqs:arn":
              queues + queueNames(stackName, `${instance}Subscriber${pascalCase(name)}`),
          },
          ...(arns && { ArnEquals: { "aws:PrincipalArn": arns } }),
        },
      })),
    ),
  ];
  return statements.map(({ Sid, ...rest }) => ({ Sid, Effect: "Allow", ...rest, Resource: "*" }));
}

function placeOf(keyArn: string): KeyPlace {
  const [, partition = "", , region = "", account = ""] = keyArn.split(":");
  return { partition, region, account };
}

const longestQueueName = 80;
/** After CDK's digest of the path comes CloudFormation's random part. */
const digestPattern = "?".repeat(8);
const randomPart = "-".length + 12;

/** The name of a subscriber's queue, as a pattern; CloudFormation shortens what is too long. */
function queueNames(stackName: string, subscriber: string): string {
  const start = `${stackName}-${subscriber}Queue${digestPattern}`;
  return start.length + randomPart <= longestQueueName ? `${start}-*` : `${stackName.slice(0, 20)}*`;
}
