/**
 * Proves that each action of each role is needed on each of its resources: runs the scenario, in which some call must be
 * allowed by that permission alone. Without it the call would be refused, and a refusal fails the scenario by the action's
 * name, as `test/e2e/assembly.proof.test.ts` shows.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import { byCall, findNeeds } from "./find-needs.ts";
import { permissionsPage } from "./page.ts";

const report = z.object({
  permissions: z.array(
    z.object({ role: z.string(), action: z.string(), resource: z.string(), isNeeded: z.boolean() }),
  ),
});

const page = join(import.meta.dirname, "../../docs/evidence/permissions.md");

const { write } = new Command("npm run proof -- permissions")
  .description("Runs the scenario, and shows of each permission of each role whether a call needed it.")
  .option("--write", "record the result in docs/evidence/permissions.md, where all are needed", false)
  .parse()
  .opts<{ readonly write: boolean }>();

const directory = await mkdtemp(join(tmpdir(), "permissions-"));
try {
  const file = join(directory, "report.json");
  const args = [
    "packages/local-stack/start.ts",
    "--once",
    "--users",
    "5",
    "--engine",
    "dynoxide",
    "--json",
    file,
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) throw new Error(`the scenario did not come to its end:\n${stdout}${stderr}`);
  const needs = findNeeds(report.parse(JSON.parse(text)).permissions, "income-events-local");
  const unneeded = needs.filter(({ need }) => need === undefined);
  for (const { role, action, resource, need } of needs) {
    const verdict = need === undefined ? "NOT NEEDED" : need === byCall ? "needed" : `needed for ${need}`;
    process.stdout.write(`${verdict}: ${role} ${action} on ${resource}\n`);
  }
  process.stdout.write(`${needs.length} permissions, ${unneeded.length} not needed\n`);
  if (status !== 0) process.stdout.write(`The scenario failed besides:\n${stdout}${stderr}`);
  const isProven = unneeded.length === 0 && status === 0;
  if (isProven && write) await writeFile(page, permissionsPage(needs));
  process.exitCode = isProven ? 0 : 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
