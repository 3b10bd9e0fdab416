import { startStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDeadLetters } from "../../proof/scenario/snapshot.ts";
import type { ProductAssembly } from "../../scripts/product-assembly.ts";
import { fastEngine } from "../support/engines.ts";
import { webhookSecretOf } from "../support/operated-stage.ts";
import { runProgram } from "../support/program.ts";
import { synthesizeProduct } from "../support/running-product.ts";

describe("the synthesized stack, as it runs", () => {
  let product: ProductAssembly;
  beforeAll(async () => {
    product = await synthesizeProduct();
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  const runOnce = async (assembly: ProductAssembly) => {
    await using program = runProgram("packages/local-stack/start.ts", [
      "--scenario",
      "proof/scenario/main.ts",
      "--once",
      "--users",
      "1",
      "--engine",
      await fastEngine(),
      "--assembly",
      assembly.directory,
    ]);
    return { code: await program.ended, output: program.output() };
  };

  it.each([/^UsersReceiveFunction/, /^RelayChangesFunction/])(
    "fails the run if the bundle of %s throws",
    async (functionId) => {
      await using changed = await product.copy();
      await changed.replaceBundle(functionId, 'throw new Error("a broken bundle");');

      const { code, output } = await runOnce(changed);

      expect(code).toBe(1);
      expect(output).toContain("a broken bundle");
    },
  );

  it.each([
    [/^RegisterWebhooksRole/, "secretsmanager:GetSecretValue"],
    [/^RelayChangesRole/, "dynamodb:PartiQLUpdate"],
  ] as const)("fails the run, naming the action, when %s may not %s", async (roleId, action) => {
    await using changed = await product.copy();
    await changed.change(roleId, (properties) =>
      Object.assign(
        properties,
        JSON.parse(JSON.stringify(properties).replaceAll(`"${action}"`, '"none:None"')),
      ),
    );

    const { code, output } = await runOnce(changed);

    expect(code).toBe(1);
    expect(output).toContain(action);
  });

  it("moves a message to the dead letters after the template's maximum receives", async () => {
    await using changed = await product.copy();
    // The shortest visibility timeout that the function's time-out allows, so that retries follow quickly.
    await changed.change(/^UsersWorkQueue(?!Policy)/, (properties) => {
      properties.VisibilityTimeout = 2;
      properties.RedrivePolicy = { ...Object(properties.RedrivePolicy), maxReceiveCount: 2 };
    });
    const stack = await startStack({ assembly: changed.directory, engine: await fastEngine() });
    try {
      const store = stack.functions.find(({ logicalId }) => logicalId.startsWith("UsersStoreFunction"));
      let failures = 0;
      const { UsersQueueUrl = "", UsersDeadLetterQueueUrl = "" } = stack.outputs;
      stack.gateway.intercept(async ({ principal, action }, phase) => {
        if (principal !== store?.name || action !== "dynamodb:BatchExecuteStatement" || phase !== "before")
          return undefined;
        failures += 1;
        return { status: 400, errorType: "AccessDeniedException", message: "refused by the test" };
      });
      const headers = { "x-webhook-secret": await webhookSecretOf(stack) };
      const body = JSON.stringify({
        action: "create_user",
        data: { id: "6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60" },
      });
      const answer = await fetch(`${stack.outputs.WebhooksUrl}/users`, { method: "POST", headers, body });
      expect(answer.status).toBe(202);
      await stack.drained({ deadline: 120_000 });

      const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
      expect(await readDeadLetters(access, UsersDeadLetterQueueUrl, UsersQueueUrl)).toMatchObject([
        { reason: "received 2 times" },
      ]);
      expect(failures).toBe(2);
    } finally {
      await stack.close();
    }
  });
});
