import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { announce } from "@income-events/local-stack/announce.ts";
import { expect, test } from "vitest";
import { recordedIn } from "../../scripts/operating/document.ts";
import { recordedSystem, recordPages } from "../../scripts/operating/record-tasks.ts";
import { shapeOf } from "../../scripts/operating/shape.ts";
import { startProduct } from "../support/running-product.ts";

// It takes half a minute: the pages are what operators copy from, and each of their commands runs as they run it.
test("the pages of the most common tasks and others show what a fresh stack answers", async () => {
  const root = join(import.meta.dirname, "../..");
  const { stage, sandbox } = recordedSystem;
  const logs = mkdtempSync(join(tmpdir(), "operating-"));
  await using product = await startProduct(stage, {}, sandbox, { logs });
  const { stack } = product.system;
  const endAnnouncement = announce(stack, { sandbox: product.system.sandbox, logs });
  const fresh = await recordPages(product.system, () => undefined).finally(() => {
    endAnnouncement();
    rmSync(logs, { recursive: true });
  });
  const page = readFileSync(join(root, "docs/operate/operating.md"), "utf8");
  const remedy = "write them again: npm run docs -- --operating";
  expect(shapeOf(page), remedy).toEqual(shapeOf(fresh.operating));
  expect(page).toContain(`none of ${stack.alarmPlans.length} is on`);
  for (const [file, text] of fresh.others) {
    const shown = recordedIn(readFileSync(file, "utf8"));
    expect(shown).toContain("$ npx income-events ");
    expect(shapeOf(shown), `${relative(root, file)}: ${remedy}`).toEqual(shapeOf(recordedIn(text)));
  }
});
