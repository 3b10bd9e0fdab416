import { expect, it } from "vitest";
import { restoreDrill } from "../../support/restore-drill/drill.ts";
import { startProduct } from "../../support/running-product.ts";

it("a restore brings back all but who was erased, and what follows from it", async () => {
  await using product = await startProduct("drill");
  const steps: string[] = [];
  const problems = await restoreDrill(product.system, "drill", (step) => steps.push(step));
  expect(problems, steps.join("\n")).toEqual([]);
});
