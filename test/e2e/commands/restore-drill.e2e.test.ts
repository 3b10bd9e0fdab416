import { expect, it } from "vitest";
import { restoreDrill } from "../../support/restore-drill/drill.ts";
import { startProduct } from "../../support/running-product.ts";

const vaultArn = "arn:aws:backup:eu-west-1:210987654321:backup-vault:income-events";

it("after the loss of an account, a restore brings back everything except erased users, and its effects", async () => {
  await using product = await startProduct("drill", { recovery: { vaultArn } });
  const steps: string[] = [];
  const problems = await restoreDrill(product.system, "drill", (step) => steps.push(step));
  expect(problems, steps.join("\n")).toEqual([]);
});
