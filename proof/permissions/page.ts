import type { PermissionNeed } from "./find-needs.ts";

/** The page that records a run: each permission with what needed it. */
export function permissionsPage(needs: readonly PermissionNeed[]): string {
  const counted = Map.groupBy(needs, ({ need }) => need ?? "nothing");
  const roles = new Set(needs.map(({ role }) => role)).size;
  return `# Permissions that the scenario needs

Written by \`npm run proof -- permissions --write\`, which runs the stage \`local\` and asks of each action of each role, on each of
its resources, whether some call was allowed by it alone. Without it that call would be refused, and a refusal fails the
scenario (\`test/e2e/assembly.proof.test.ts\`). A test fails when a role has a permission that is not recorded here:
\`test/lib/function/recorded-permissions.int.test.ts\`.

${roles} roles, ${needs.length} permissions:

| permissions | needed by |
|---|---|
${[...counted].map(([need, of]) => `| ${of.length} | ${need} |`).join("\n")}

## All of them

| role | action | resource | needed by |
|---|---|---|---|
${needs.map(({ role, action, resource, need }) => `| ${role} | ${action} | \`${resource}\` | ${need ?? "nothing"} |`).join("\n")}
`;
}

/** `role action` of each permission that a page records. */
export function recordedIn(page: string): readonly string[] {
  return [...page.matchAll(/^\| (\w+) \| ([a-z0-9]+:\w+) \| /gm)].map(
    ([, role, action]) => `${role} ${action}`,
  );
}
