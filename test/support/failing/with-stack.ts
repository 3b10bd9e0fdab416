import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { invoke } from "@income-events/local-stack/system.ts";
import { expect, test } from "vitest";
import { descendantsOf } from "../program.ts";
import { type RunningProduct, startProduct } from "../running-product.ts";

/** Run by `failed-test.test.ts` alone, which reads what was there when each test failed. */
async function failWith({ system }: RunningProduct): Promise<void> {
  const { stack, sandbox } = system;
  await invoke(stack, outputOf(stack, "RegisterFunctionName"));
  const held = {
    processes: descendantsOf(process.ppid),
    addresses: [stack.gatewayUrl, stack.apiUrl, sandbox.baseUrl],
    folder: tmpdir(),
  };
  appendFileSync(process.env.INCOME_EVENTS_HELD ?? "", `${JSON.stringify(held)}\n`);
  expect("this test").toBe("failing");
}

test("fails and closes what it has started", async () => {
  await using product = await startProduct("local");
  await failWith(product);
});

test("fails and closes nothing", async () => {
  await failWith(await startProduct("local"));
});
