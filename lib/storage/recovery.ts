import { Duration } from "aws-cdk-lib";
import * as backup from "aws-cdk-lib/aws-backup";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import * as events from "aws-cdk-lib/aws-events";
import * as iam from "aws-cdk-lib/aws-iam";
import type * as kms from "aws-cdk-lib/aws-kms";
import type * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { acknowledge } from "../acknowledgements.ts";
import { allow } from "../function/permissions.ts";
import { Alarm } from "../observability/alarm.ts";
import { sumOf } from "../observability/alarm-metrics.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";
import type { EventTable } from "./event-table.ts";

export type RecoveryProps = {
  readonly settings: Settings;
  readonly recovery: NonNullable<Settings["recovery"]>;
  readonly table: EventTable;
  readonly buckets: readonly s3.Bucket[];
};

/** AWS's own policies of the role that takes backups. The one of S3 has no path. */
const managedPolicies = [
  "service-role/AWSBackupServiceRolePolicyForBackup",
  "AWSBackupServiceRolePolicyForS3Backup",
];

type RecoveryAlarmsProps = {
  readonly vault: backup.IBackupVault;
  readonly copy: backup.IBackupVault;
  readonly everyHours: number;
};

/** Alerts the operator when a backup or its copy fails, which otherwise shows only when somebody restores. */
class RecoveryAlarms extends Construct {
  constructor(scope: Construct, id: string, { vault, copy, everyHours }: RecoveryAlarmsProps) {
    super(scope, id);
    new Alarm(this, "Failing", {
      entry: "backups-failing",
      metric: sumOf([
        // Expired: it did not begin within its start window.
        ...["Failed", "Aborted", "Expired"].map((state) => jobsOf(vault, `NumberOfBackupJobs${state}`)),
        jobsOf(copy, "NumberOfCopyJobsFailed"),
      ]),
      impact:
        "A backup of the table or of a bucket, or its copy to the other vault, failed: if the account or the region is lost " +
        "now, what was written since the last copy is lost, too.",
      remedy: "Show failed backups with their reasons: aws backup list-backup-jobs --by-state FAILED",
      // The alarm stays on until the next backup.
      period: Duration.hours(everyHours),
      breaching: 1,
      outOf: 1,
    });
  }
}

/**
 * Number of jobs of a vault, which is the destination of a copy. Sources: AWS Backup developer guide, "AWS Backup
 * metrics with Amazon CloudWatch"; for the dimensions, CloudWatch user guide, "Supported metrics for resource tags for
 * telemetry".
 */
function jobsOf({ backupVaultName }: backup.IBackupVault, metricName: string): Metric {
  return new Metric({
    namespace: "AWS/Backup",
    metricName,
    dimensionsMap: { BackupVaultName: backupVaultName },
    statistic: "Sum",
  });
}

/** Backs up table and buckets, and copies each backup to a vault in another region or account. */
export class Recovery extends Construct {
  constructor(scope: Construct, id: string, { settings, recovery, table, buckets }: RecoveryProps) {
    super(scope, id);
    const key = dataKeyOf(this, settings);
    const deleteAfter = Duration.days(recovery.keepDays);
    const vault = new backup.BackupVault(this, "Vault", { ...(key && { encryptionKey: key }) });
    const copy = backup.BackupVault.fromBackupVaultArn(this, "Copy", recovery.vaultArn);
    const plan = new backup.BackupPlan(this, "Plan", {
      backupVault: vault,
      backupPlanRules: [
        new backup.BackupPlanRule({
          ruleName: "Copied",
          scheduleExpression: events.Schedule.cron({ minute: "0", hour: hoursEvery(recovery.everyHours) }),
          startWindow: Duration.hours(1),
          completionWindow: Duration.days(1),
          deleteAfter,
          copyActions: [{ destinationBackupVault: copy, deleteAfter }],
        }),
      ],
    });
    const role = new iam.Role(this, "Role", {
      assumedBy: new iam.ServicePrincipal("backup.amazonaws.com"),
      managedPolicies: managedPolicies.map((name) => iam.ManagedPolicy.fromAwsManagedPolicyName(name)),
      ...(key && { inlinePolicies: { key: new iam.PolicyDocument({ statements: [useOf(key)] }) } }),
    });
    for (const name of managedPolicies)
      acknowledge(role, {
        finding: `AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`,
        reason:
          "Only AWS Backup can assume the role, and AWS keeps the policy in step with what its backups of DynamoDB and S3 need.",
      });
    new backup.BackupSelection(this, "Selection", {
      backupPlan: plan,
      role,
      disableDefaultBackupPolicy: true,
      resources: [table.table.tableArn, ...buckets.map(({ bucketArn }) => bucketArn)].map((arn) =>
        backup.BackupResource.fromArn(arn),
      ),
    });
    new RecoveryAlarms(this, "Alarms", { vault, copy, everyHours: recovery.everyHours });
  }
}

/** The hours field of a cron expression. Its values end at 23, which rules out `0/24`. */
function hoursEvery(hours: number): string {
  return hours === 24 ? "0" : `0/${hours}`;
}

function useOf(key: kms.IKey): iam.PolicyStatement {
  return allow(["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"], [key.keyArn]);
}
