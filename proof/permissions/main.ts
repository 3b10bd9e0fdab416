/**
 * Proves that each action of each role is needed on each of its resources: runs the scenario, in which some call must be
 * allowed by that permission alone. Without it the call would be refused, and a refusal fails the scenario by the action's
 * name, as `test/e2e/assembly.test.ts` shows.
 */
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";

const report = z.object({
  permissions: z.array(
    z.object({ role: z.string(), action: z.string(), resource: z.string(), isNeeded: z.boolean() }),
  ),
});

/** What Lambda asks of a role when an event source is created, and no call needs: the runner then refuses the assembly. */
const askedAtCreation =
  /^(sqs:GetQueueAttributes|dynamodb:ListStreams|s3:ListBucket|s3:PutObject) on .*(Queue|\*$|failures)/;

/** What the scenario can't bring about, why, and the test that does. */
const usedElsewhere: readonly (readonly [RegExp, string])[] = [
  [
    /^RelayChanges\w* s3:DeleteObject on /,
    "on expiry, which no engine brings about: test/functions/relay/relay-expiry.test.ts",
  ],
  [
    /^ReconcileUsers\w* sqs:SendMessage on .*FetchWork/,
    "for documents that are older than a run lasts: test/functions/reconcile/reconciler-lists.test.ts",
  ],
  [
    /^ReadDocuments\w* dynamodb:(?:Query|BatchGetItem) on /,
    "where a subscriber lists, while those of the scenario read by address: test/functions/read/reader.test.ts",
  ],
];

new Command("npm run proof -- permissions")
  .description("Runs the scenario, and shows of each permission of each role whether a call needed it.")
  .parse();

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
  const { permissions } = report.parse(JSON.parse(text));
  const judged = permissions.map(({ role, action, resource, isNeeded }) => {
    const name = `${action} on ${resource}`;
    const ofRole = `${role.replace(/[0-9A-F]{8}$/, "")} ${name}`;
    const [, why] = usedElsewhere.find(([pattern]) => pattern.test(ofRole)) ?? [];
    const later = why === undefined ? "NOT NEEDED" : `needed ${why}`;
    const verdict = isNeeded ? "needed" : askedAtCreation.test(name) ? "needed at creation" : later;
    return { verdict, line: `${verdict}: ${ofRole}` };
  });
  const unneeded = judged.filter(({ verdict }) => verdict === "NOT NEEDED");
  process.stdout.write(judged.map(({ line }) => `${line}\n`).join(""));
  process.stdout.write(`${permissions.length} permissions, ${unneeded.length} not needed\n`);
  if (status !== 0) process.stdout.write(`The scenario failed besides:\n${stdout}${stderr}`);
  process.exitCode = unneeded.length === 0 && status === 0 ? 0 : 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
