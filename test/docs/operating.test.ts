import { readFileSync } from "node:fs";
import { join } from "node:path";
import { announce } from "@income-events/local-stack/announce.ts";
import { expect, test } from "vitest";
import { recordedSystem, recordTasks } from "../../tools/operating/record-tasks.ts";
import { shapeOf } from "../../tools/operating/shape.ts";
import { startProduct } from "../support/running-product.ts";

// It takes half a minute: the page is what operators copy from, and each of its commands runs as they run it.
test("the page of the ten most common tasks shows what a fresh stack answers", async () => {
  const { stage, sandbox } = recordedSystem;
  await using product = await startProduct(stage, {}, sandbox);
  const { stack } = product.system;
  const endAnnouncement = announce(stack, { sandbox: product.system.sandbox });
  const fresh = await recordTasks(product.system, () => undefined).finally(endAnnouncement);
  const page = readFileSync(join(import.meta.dirname, "../../docs/operate/operating.md"), "utf8");
  expect(shapeOf(page), "write it again: npm run docs -- --operating").toEqual(shapeOf(fresh));
  expect(page).toContain(`none of ${stack.alarmPlans.length} is on`);
});
