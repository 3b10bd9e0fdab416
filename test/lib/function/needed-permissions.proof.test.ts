import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { runProgram } from "../../support/program.ts";
import { findNeeds, recordOf } from "./find-needs.ts";

const report = z.object({
  permissions: z.array(
    z.object({ role: z.string(), action: z.string(), resource: z.string(), isNeeded: z.boolean() }),
  ),
});

/** Without a permission that alone allowed a call, the call is denied, and a denial fails the scenario. */
it("the scenario needs each permission as recorded; if one is new, run this file with --update", async () => {
  const directory = await mkdtemp(join(tmpdir(), "permissions-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "report.json");
  const flags = [
    "--scenario",
    "proof/scenario/main.ts",
    "--once",
    "--users",
    "5",
    "--engine",
    "dynoxide",
    "--json",
    file,
  ];
  await using program = runProgram("packages/local-stack/start.ts", flags);
  expect(await program.ended, program.output()).toBe(0);
  const { permissions } = report.parse(JSON.parse(await readFile(file, "utf8")));
  const needs = findNeeds(permissions, "income-events-local");
  await expect(recordOf(needs)).toMatchFileSnapshot("needed-permissions.txt");
});
