import { Match, Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { RecoveryVaultStack } from "../../../lib/recovery-vault-stack.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { keyArn, nameOf, productionSettings, quickApp, synthesized } from "../synthesized.ts";
import { production, targetOf } from "../synthesized-stages.ts";

const vaultArn = "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events";
const recovery = { vaultArn, everyHours: 6, keepDays: 20 };

describe("a stage with recovery", () => {
  const stack = synthesized({ ...productionSettings, recovery });
  const buckets = ["ArchiveBucket", "ErasureLog", "OverflowBucket", "RelayFailures"];
  const eraser = JSON.stringify(stack.withId("EraseSubjectsRole").Properties);

  it("backs up the table and each bucket, and copies the backups to the vault, for the days that are set", () => {
    const [selection] = stack.ofType("AWS::Backup::BackupSelection");
    const { Resources } = Object(selection?.Properties.BackupSelection);
    const targets = (Resources as readonly unknown[]).map(targetOf);
    expect(targets.sort()).toEqual([...buckets, "EventsTable"].sort());
    const [plan] = stack.ofType("AWS::Backup::BackupPlan");
    expect(Object(plan?.Properties.BackupPlan).BackupPlanRule).toMatchObject([
      {
        ScheduleExpression: "cron(0 0/6 * * ? *)",
        Lifecycle: { DeleteAfterDays: 20 },
        CopyActions: [{ DestinationBackupVaultArn: vaultArn, Lifecycle: { DeleteAfterDays: 20 } }],
      },
    ]);
  });

  it("backs up at midnight by default", () => {
    const [plan] = synthesized({ ...productionSettings, recovery: { vaultArn } }).ofType(
      "AWS::Backup::BackupPlan",
    );
    expect(Object(plan?.Properties.BackupPlan).BackupPlanRule).toMatchObject([
      { ScheduleExpression: "cron(0 0 * * ? *)" },
    ]);
  });

  it("keeps versions of objects, as AWS Backup requires, for a day; those of the log stay", () => {
    for (const { id, Properties } of stack.ofType("AWS::S3::Bucket")) {
      expect(Properties.VersioningConfiguration).toEqual({ Status: "Enabled" });
      const short = JSON.stringify(Properties.LifecycleConfiguration).includes(
        '"NoncurrentVersionExpiration":{"NoncurrentDays":1}',
      );
      expect([nameOf(id), short]).toEqual([nameOf(id), nameOf(id) !== "ErasureLog"]);
    }
  });

  it("lets the eraser delete versions, and makes it do so", () => {
    expect(eraser).toContain("s3:ListBucketVersions");
    expect(eraser).toContain("s3:DeleteObjectVersion");
    expect(stack.bundles.get("erase/subjects")).toMatchObject({ isVersioned: true });
  });

  it("encrypts the vault with a key of your own, which the role of the backups may use", () => {
    const own = synthesized({ ...productionSettings, recovery, encryption: { keyArn } });
    expect(own.withId("RecoveryVault").Properties.EncryptionKeyArn).toBe(keyArn);
    expect(JSON.stringify(own.withId("RecoveryRole").Properties.Policies)).toContain(keyArn);
  });

  it("raises an alarm if a backup or its copy fails, until the next backup", () => {
    const [alarm] = stack.ofType("AWS::CloudWatch::Alarm").filter(({ id }) => id.startsWith("Recovery"));
    const { id: vault } = stack.withId("RecoveryVault");
    const series = (Metrics: unknown) =>
      (Metrics as readonly { readonly MetricStat?: object }[]).flatMap(({ MetricStat = [] }) => MetricStat);
    const ofVault = (MetricName: string, Value: unknown) => ({
      ...{ Period: 6 * 3_600, Stat: "Sum" },
      Metric: { Namespace: "AWS/Backup", MetricName, Dimensions: [{ Name: "BackupVaultName", Value }] },
    });
    const own = { "Fn::GetAtt": [vault, "BackupVaultName"] };
    expect(series(alarm?.Properties.Metrics)).toEqual([
      ofVault("NumberOfBackupJobsFailed", own),
      ofVault("NumberOfBackupJobsAborted", own),
      ofVault("NumberOfBackupJobsExpired", own),
      // AWS Backup counts copies by the vault that they go to.
      ofVault("NumberOfCopyJobsFailed", "income-events"),
    ]);
    expect(alarm?.Properties).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
    expect(alarm?.Properties.AlarmActions).toHaveLength(1);
  });

  it("is absent without the setting", () => {
    expect(production.text).not.toMatch(/AWS::Backup|ObjectVersion|BucketVersions|NoncurrentVersion/);
    expect(production.bundles.get("erase/subjects")).not.toHaveProperty("isVersioned");
  });
});

it.each(["arn:aws:s3:::bucket", "income-events", "arn:aws:backup:eu-west-1:1:backup-vault:v"])(
  "the vault %s is refused, with what to write",
  (written) => {
    const settings = { ...productionSettings, recovery: { vaultArn: written } };
    expect(() => parseSettings(settings, "prod.json")).toThrow(
      /recovery\.vaultArn: is .*; write the ARN of a vault/,
    );
  },
);

it("the vault of another account accepts copies only from the stages' account, and has its own key", () => {
  const app = quickApp();
  const stack = new RecoveryVaultStack(app, "Recovery", { sourceAccount: "123456789012" });
  const template = Template.fromStack(stack);
  template.hasResource("AWS::Backup::BackupVault", {
    DeletionPolicy: "Retain",
    Properties: {
      EncryptionKeyArn: { "Fn::GetAtt": [Match.stringLikeRegexp("^Key"), "Arn"] },
      AccessPolicy: {
        Statement: [
          {
            Effect: "Allow",
            Action: "backup:CopyIntoBackupVault",
            Principal: { AWS: { "Fn::Join": ["", Match.arrayWith([":iam::123456789012:root"])] } },
            Resource: "*",
          },
        ],
        Version: "2012-10-17",
      },
    },
  });
  template.hasOutput("VaultArn", {});
});
