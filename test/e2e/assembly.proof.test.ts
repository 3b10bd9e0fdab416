import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fastEngine } from "../support/engines.ts";
import type { ProductAssembly } from "../support/product-assembly.ts";
import { runProgram } from "../support/program.ts";
import { synthesizeProduct } from "../support/running-product.ts";

describe("the synthesized stack, as it runs", () => {
  let product: ProductAssembly;
  beforeAll(async () => {
    product = await synthesizeProduct();
  });
  afterAll(() => product?.[Symbol.asyncDispose]());

  const runOnce = async (assembly: ProductAssembly) => {
    const scenario = ["--scenario", "proof/scenario/main.ts", "--once", "--users", "1"];
    const args = [...scenario, "--engine", await fastEngine(), "--assembly", assembly.directory];
    await using program = runProgram("packages/local-stack/start.ts", args);
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
});
