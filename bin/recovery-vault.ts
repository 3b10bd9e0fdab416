import { App } from "aws-cdk-lib";
import { RecoveryVaultStack } from "../lib/recovery-vault-stack.ts";

/** Synthesizes the vault for copies of backups. Context: `source` is the id of the account that has the stages. */
const app = new App();
const source: unknown = app.node.tryGetContext("source");
if (!/^\d{12}$/.test(String(source))) {
  process.stderr.write("Name the account that has the stages: -c source=123456789012\n");
  process.exitCode = 1;
} else {
  new RecoveryVaultStack(app, "income-events-recovery", { sourceAccount: String(source) });
  app.synth();
}
