/**
 * Proves that each action of each role is needed on each of its resources: takes them out of a copy of the assembly, one at a time, and runs
 * the scenario, which must fail and name the action. Slow: a run for each. `npm run permissions:sweep`, or with the
 * beginnings of roles' names for these only: `npm run permissions:sweep -- Fetch Refresh`
 */
import { spawnSync } from "node:child_process";
import { type ProductAssembly, synthesizeProduct } from "../test/support/product-assembly.ts";

/** Whether the scenario fails on the assembly, and says that the action is missing. */
function isNoticed({ directory }: ProductAssembly, action: string): boolean {
  const args = ["local/start.ts", "--once", "--users", "1", "--engine", "dynoxide", "--assembly", directory];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return status === 1 && `${stdout}${stderr}`.includes(action);
}

await using product = await synthesizeProduct();
const wanted = process.argv.slice(2);
const isWanted = (roleId: string) => wanted.length === 0 || wanted.some((name) => roleId.startsWith(name));
const permissions = (await product.permissionsOfRoles()).filter(({ roleId }) => isWanted(roleId));
let missed = 0;
for (const [index, { roleId, action, resource }] of permissions.entries()) {
  await using changed = await product.copy();
  await changed.removeAction(new RegExp(`^${roleId}$`), action, resource);
  const noticed = isNoticed(changed, action);
  if (!noticed) missed += 1;
  const result = noticed ? "needed" : "NOT NOTICED";
  process.stdout.write(`${index + 1}/${permissions.length} ${result}: ${roleId} ${action} on ${resource}\n`);
}
process.stdout.write(`${permissions.length} permissions, ${missed} not noticed\n`);
process.exitCode = missed === 0 ? 0 : 1;
