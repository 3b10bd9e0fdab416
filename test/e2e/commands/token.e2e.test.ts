import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { expect, it, onTestFinished } from "vitest";
import { refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { startProduct } from "../../support/running-product.ts";

/** The synthesized stack with a provider that revokes a token when it is refreshed. */
it("the token is made current by the next run when the refresher was killed between pending and current", async () => {
  const sandboxOptions = { tokenLifetimeSeconds: 7_200, refreshEndsToken: true };
  await using product = await startProduct("local", {}, sandboxOptions);
  const { access, sandbox, stack } = product.system;
  const table = new DynamoDBClient(access);
  onTestFinished(() => table.destroy());
  const SecretId = outputOf(stack, "TokenSecretArn");
  const rule = stack.schedules.names.find((name) => name.includes("RefreshSchedule")) ?? "";
  /** Runs the schedule a minute after the previous run; resolves when the run ends, whatever its outcome. */
  const run = async () => {
    await table.send(
      new UpdateItemCommand({
        TableName: outputOf(stack, "TableName"),
        Key: marshall(refusalNoteKey),
        UpdateExpression: "REMOVE refreshClaimedAt",
      }),
    );
    await stack.schedules.fire(rule);
  };
  const refreshes = () => sandbox.calls().filter(({ path }) => path.endsWith("/token/refresh")).length;

  // An operator sets a token that expires soon.
  await stack.setSecret(SecretId, JSON.stringify({ token: await sandbox.issueToken(600) }));
  const [before, old] = [refreshes(), stack.secretValue(SecretId)];
  const refresher = outputOf(stack, "RefreshFunctionName");
  let killed = 0;
  stack.gateway.intercept(async ({ principal, action }, phase) => {
    const isPending = principal === refresher && action === "secretsmanager:PutSecretValue";
    if (killed > 0 || phase !== "after" || !isPending) return undefined;
    killed = stack.functions.find(({ name }) => name === refresher)?.kill() ?? 0;
    return "drop";
  });
  await run();
  expect(killed).toBe(1);
  expect(stack.secretValue(SecretId)).toBe(old);

  await run();
  expect(stack.secretValue(SecretId)).not.toBe(old);
  expect(refreshes() - before).toBe(1);
  await run();
  expect(refreshes() - before).toBe(1);
});
