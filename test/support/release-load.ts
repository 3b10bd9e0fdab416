import { outputOf } from "../../local/outputs.ts";
import type { LocalFunction } from "../../local/stack.ts";
import type { System } from "../../local/system.ts";
import { webhookKinds } from "../../sandbox/webhooks.ts";

/** Too large for a message or an item, so that it goes through the bucket. */
const padding = "x".repeat(400_000);
const repeatsPerKind = 2;
const mostRounds = 20;

/** What one round brings: new users, lost webhooks, repeats of what came before, large bodies, a provider that fails. */
export async function bringRound(system: System, round: number): Promise<void> {
  const { sandbox } = system;
  const failing = { path: "^/api/v0.4/accounts/", method: "GET", status: 503 } as const;
  // Now and then, which is in the middle of lists too; then in a row, which opens the breaker.
  sandbox.fault({ ...failing, share: 1 / 4, times: 10 });
  if (round % 2 === 1) sandbox.fault({ ...failing, times: 5 });
  const { users, accounts } = await sandbox.createUsers(2, { companyAccounts: 1, pictures: round % 3 });
  const [userId, accountId] = [users[0] ?? "", accounts[0] ?? ""];
  sandbox.fireEvent("users", { action: "update_user", data: { id: userId }, padding });
  sandbox.fireEvent("accounts", { event: "update_account", account_id: accountId, user_id: userId, padding });
  // Late news of the past, twice: the account is connected again by now.
  const late = { event: "disconnect_account", account_id: accountId, user_id: userId, connected: false };
  sandbox.fireEvent("accounts", late, { times: 2 });
  for (const kind of webhookKinds) {
    const delivered = sandbox.deliveries({ kind }).filter(({ status }) => status === "delivered");
    for (const { id } of delivered.slice(0, repeatsPerKind)) sandbox.resend(id);
  }
  await invokeScheduled(system);
  await sandbox.quiet();
}

/** What the schedules would invoke; what fails, for the provider is down, the next one does. */
export async function invokeScheduled({ stack }: System): Promise<void> {
  for (const output of ["RefreshFunctionName", "RegisterFunctionName", "ReconcileFunctionName"]) {
    const name = outputOf(stack, output);
    await stack.functions.find((each) => each.name === name)?.invoke("{}");
  }
}

/** Brings rounds until each function was invoked so often. @throws naming those that the load does not reach */
export async function bringLoad(
  system: System,
  functions: readonly LocalFunction[],
  invocations: number,
): Promise<void> {
  const begun = functions.map((each) => ({ each, before: each.counts().invocations }));
  const unreached = () =>
    begun.filter(({ each, before }) => each.counts().invocations < before + invocations);
  for (let round = 0; round < invocations || unreached().length > 0; round += 1) {
    if (round === mostRounds) {
      const names = unreached().map(({ each }) => each.logicalId);
      throw new Error(`The load does not reach ${names.join(", ")}: add to it what does`);
    }
    await bringRound(system, round);
  }
}
