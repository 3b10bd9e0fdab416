import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Call, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { itemReader } from "../../../adapters/dynamodb/batching.ts";
import { refusalNoteKey } from "../../../adapters/dynamodb/keys.ts";
import { CircuitBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { eventually } from "../../support/eventually.ts";
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
  const alarm = (id: RegExp) => system.stack.alarms().find(({ logicalId }) => id.test(logicalId));
  const refresher = () => {
    const name = outputOf(system.stack, "RefreshFunctionName");
    const found = system.stack.functions.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no function ${name}`);
    return found;
  };
  /** Lines may arrive shortly after the run that wrote them. */
  const logged = (code: string) =>
    eventually(() => expect(refresher().log().at(-1)).toContain(`"code":"${code}"`));
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

  it("raises the alarm with the remedy if the refresher was killed before it stored the new token", async () => {
    const old = await current();
    const kills = killAt("secretsmanager:PutSecretValue", "before");
    await run();
    expect(kills()).toBe(1);
    await run();
    expect(await current()).toBe(old);
    await logged("TOKEN_REFUSED");
    await eventually(() => expect(alarm(/AtRisk/)).toMatchObject({ state: "ALARM" }));
    expect(alarm(/AtRisk/)?.description).toContain("npx income-events status --section token");
    const words = printed.filter((line) => line.startsWith("ALARM: The token was not renewed"));
    expect(words).toHaveLength(1);
  });

  it("that is revoked during a refresh is not replaced by a refused one, and log and alarm report it", async () => {
    const { sandbox, stack } = system;
    const old = await current();
    const stop = stack.gateway.intercept(async ({ principal, action }, phase) => {
      const isStored = action === "secretsmanager:PutSecretValue" && phase === "after";
      if (isStored && principal === refresher().name) sandbox.endTokens("revoked");
      return undefined;
    });
    await run();
    stop();
    expect(await current()).toBe(old);
    await logged("TOKEN_DISCARDED");
    await eventually(() => expect(alarm(/AtRisk/)).toMatchObject({ state: "ALARM" }));

    const before = refreshes();
    await run();
    expect(refreshes() - before).toBe(1);
    await logged("TOKEN_REFUSED");

    await set(await sandbox.issueToken(600));
    await run();
    await logged("TOKEN_REFRESHED");
  });

  it("is refreshed while failing data calls keep the breaker open", async () => {
    const breaker = new CircuitBreaker(table, outputOf(system.stack, "TableName"), {
      settings: { failures: 1, baseSeconds: 300, maxSeconds: 300 },
      read: itemReader(table, outputOf(system.stack, "TableName")),
      longestCallInSeconds: 1,
      now: () => new Date(),
      random: () => 1,
      onStateChange: () => undefined,
    });
    const report = await breaker.admit();
    await report({ pauseInSeconds: 0 });
    expect(() => breaker.gate()).toThrow("the provider is down");
    const old = await current();
    await run();
    expect(await current()).not.toBe(old);
  });
});

function ruleOf({ stack }: System): string {
  const rule = stack.schedules.names.find((name) => name.includes("RefreshSchedule"));
  if (rule === undefined)
    throw new Error(`no schedule of the refresher among ${stack.schedules.names.join(", ")}`);
  return rule;
}
