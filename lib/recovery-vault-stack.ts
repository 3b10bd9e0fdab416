import { CfnOutput, Stack, type StackProps } from "aws-cdk-lib";
import * as backup from "aws-cdk-lib/aws-backup";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";

/** Account whose backups the vault accepts. */
export interface RecoveryVaultStackProps extends StackProps {
  /** Id of the account that has the stages. */
  readonly sourceAccount: string;
}

/** A vault in another account or region, for copies of a stage's backups (setting `recovery.vaultArn`). */
export class RecoveryVaultStack extends Stack {
  constructor(scope: Construct, id: string, { sourceAccount, ...props }: RecoveryVaultStackProps) {
    super(scope, id, { analyticsReporting: false, terminationProtection: true, ...props });
    // AWS Backup copies between accounts only into a vault with a key of the customer's.
    const encryptionKey = new kms.Key(this, "Key", { enableKeyRotation: true });
    const vault = new backup.BackupVault(this, "Vault", {
      encryptionKey,
      accessPolicy: new iam.PolicyDocument({
        statements: [
          new iam.PolicyStatement({
            principals: [new iam.AccountPrincipal(sourceAccount)],
            actions: ["backup:CopyIntoBackupVault"],
            resources: ["*"],
          }),
        ],
      }),
    });
    new CfnOutput(this, "VaultArn", {
      description: "Value of the setting recovery.vaultArn",
      value: vault.backupVaultArn,
    });
  }
}
