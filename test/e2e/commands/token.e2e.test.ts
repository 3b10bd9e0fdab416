import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { type RunningProduct, startProduct } from "../../support/running-product.ts";

/** The synthesized stack with a provider that revokes a token when it is refreshed. */
describe("the token of a running system", () => {
  let product: RunningProduct;
  let system: System;
  let secrets: SecretsManagerClient;
  let table: DynamoDBClient;
  let printed: string[];

  beforeAll(async () => {
    printed = [];
    const sandbox = { delivery: { firstRetryMs: 200 }, tokenLifetimeSeconds: 7_200, refreshEndsToken: true };
    product = await startProduct("local", {}, sandbox, { onProgress: (step) => printed.push(step) });
    ({ system } = product);
    const { gatewayUrl: endpoint, region, operator: credentials } = system.stack;
    secrets = new SecretsManagerClient({ endpoint, region, credentials });
    table = new DynamoDBClient({ endpoint, region, credentials });
  });
  afterAll(async () => {
    secrets.destroy();
    table.destroy();
    await product?.[Symbol.asyncDispose]();
  });

  const secretId = () => outputOf(system.stack, "TokenSecretArn");
  const set = (token: string) => system.stack.setSecret(secretId(), JSON.stringify({ token }));
  const current = async () => {
    const { SecretString = "" } = await secrets.send(new GetSecretValueCommand({ SecretId: secretId() }));
    return SecretString;
  };
  /** Runs the schedule a minute after the previous run; resolves when the run ends, whatever its outcome. */
  const run = async () => {
    await table.send(
      new UpdateItemCommand({
        TableName: outputOf(system.stack, "TableName"),
        Key: marshall(refusalNoteKey),
        UpdateExpression: "REMOVE refreshClaimedAt",
      }),
    );
    await system.stack.schedules.fire(ruleOf(system));
  };
  const refreshes = () => system.sandbox.calls().filter(({ path }) => path.endsWith("/token/refresh")).length;
  const refresher = () => {
    const name = outputOf(system.stack, "RefreshFunctionName");
    const found = system.stack.functions.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no function ${name}`);
    return found;
  };
  /** Kills the refresher once, at a call to AWS. */
  const killAt = (action: string, when: "before" | "after") => {
    const { name, kill } = refresher();
    const isIt = (call: Call) => call.principal === name && call.action === action;
    let killed = 0;
    const interceptor: Interceptor = async (call, phase) => {
      if (killed > 0 || phase !== when || !isIt(call)) return undefined;
      killed = kill();
      return "drop";
    };
    const stop = system.stack.gateway.intercept(interceptor);
    return () => {
      stop();
      return killed;
    };
  };

  // An operator sets a token that expires soon.
  beforeEach(async () => set(await system.sandbox.issueToken(600)));

  it("is made current by the next run when the refresher was killed between pending and current", async () => {
    const before = refreshes();
    const old = await current();
    const kills = killAt("secretsmanager:PutSecretValue", "after");
    await run();
    expect(kills()).toBe(1);
    expect(await current()).toBe(old);

    await run();
    expect(await current()).not.toBe(old);
    expect(refreshes() - before).toBe(1);
    await run();
    expect(refreshes() - before).toBe(1);
  });
});

function ruleOf({ stack }: System): string {
  const rule = stack.schedules.names.find((name) => name.includes("RefreshSchedule"));
  if (rule === undefined)
    throw new Error(`no schedule of the refresher among ${stack.schedules.names.join(", ")}`);
  return rule;
}
