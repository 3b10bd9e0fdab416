import { pascalCase } from "../names.ts";
import { admissionsOf } from "./principals.ts";
import type { Settings } from "./settings-schema.ts";

/** Location of a KMS key, which must be in the stage's account and region. */
type KeyPlace = {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  /** Prefix of the pipeline's logical ids, if the stack contains more. */
  readonly instance?: string;
};

/**
 * Statements that the key's policy needs for principals other than this account's roles, because the stack can't change
 * the policy of a given key. Sources: CloudWatch Logs user guide, "Encrypt log data"; SQS developer guide, "Key
 * management" (SQS names the queue in the encryption context, as CloudTrail shows it: `aws:sqs:arn`); SNS developer
 * guide, "Enable compatibility between event sources from AWS services and encrypted topics", which has both conditions
 * of a service that publishes.
 * @param place required if the key's ARN is known only at deploy time
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
/** CDK's digest of the path is followed by CloudFormation's random part. */
const digestPattern = "?".repeat(8);
const randomPart = "-".length + 12;

/** Pattern for the name of a subscriber's queue. CloudFormation shortens long names. */
function queueNames(stackName: string, subscriber: string): string {
  const start = `${stackName}-${subscriber}Queue${digestPattern}`;
  return start.length + randomPart <= longestQueueName ? `${start}-*` : `${stackName.slice(0, 20)}*`;
}
