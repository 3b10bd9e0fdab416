/**
 * Proves that each action of each role is needed on each of its resources: takes them out of a copy of the assembly, one
 * at a time, and runs the scenario, which must fail and name the action.
 */
import { spawnSync } from "node:child_process";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command } from "commander";
import { type ProductAssembly, synthesizeProduct } from "../../tools/product-assembly.ts";

/** Whether the scenario fails on the assembly, and says that the action is missing. */
function isNoticed({ directory }: ProductAssembly, action: string): boolean {
  const args = [
    "packages/local-stack/start.ts",
    "--once",
    "--users",
    "1",
    "--engine",
    "dynoxide",
    "--assembly",
    directory,
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return status === 1 && `${stdout}${stderr}`.includes(action);
}

const examples = `
A run of the scenario for each: hours for all roles.

Examples:
  npm run proof -- permissions
  npm run proof -- permissions Fetch Refresh    only roles whose names begin so
  npm run proof -- permissions --from 94        goes on where an earlier run ended`;

const command = new Command("npm run proof -- permissions")
  .description("Takes each permission of each role away, and expects the scenario to fail by its name.")
  .argument("[roles...]", "beginnings of roles' names; none: all roles")
  .option(
    "--from <number>",
    "the first permission to take away, as an earlier run numbered it",
    wholeNumber(1),
    1,
  )
  .addHelpText("after", examples)
  .parse();
const wanted = command.args;
const { from } = command.opts<{ readonly from: number }>();

await using product = await synthesizeProduct();
const isWanted = (roleId: string) => wanted.length === 0 || wanted.some((name) => roleId.startsWith(name));
const permissions = (await product.permissionsOfRoles()).filter(({ roleId }) => isWanted(roleId));
let missed = 0;
for (const [index, { roleId, action, resource }] of permissions.entries()) {
  if (index + 1 < from) continue;
  await using changed = await product.copy();
  await changed.removeAction(new RegExp(`^${roleId}$`), action, resource);
  const noticed = isNoticed(changed, action);
  if (!noticed) missed += 1;
  const result = noticed ? "needed" : "NOT NOTICED";
  process.stdout.write(`${index + 1}/${permissions.length} ${result}: ${roleId} ${action} on ${resource}\n`);
}
process.stdout.write(`${Math.max(0, permissions.length - from + 1)} permissions, ${missed} not noticed\n`);
process.exitCode = missed === 0 ? 0 : 1;
