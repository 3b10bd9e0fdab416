import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalFunction } from "@income-events/local-stack/stack.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { fieldsOf } from "../../domain/core/parse.ts";
import { envelopeSamples, taskSamples } from "../releases/write-messages.ts";

/** Too large for a message or an item, so that it goes through the bucket. */
const padding = "x".repeat(400_000);
const repeatsPerKind = 2;
const maxRounds = 20;

/**
 * What one round brings: new users, lost webhooks, repeats of what came before, large bodies, a provider that fails.
 */
export async function sendRound(system: System, round: number): Promise<void> {
  const { sandbox } = system;
  const failing = { path: "^/api/v0.4/accounts/", method: "GET", status: 503 } as const;
  // Now and then, which is in the middle of lists too; then in a row, which opens the breaker.
  sandbox.fault({ ...failing, share: 1 / 3, times: 12 });
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

/**
 * Sends each form of a task, and what reconciliation reports, as this release writes it; the task is about a real
 * account.
 */
export async function sendWrittenToday({ sandbox, stack, access }: System): Promise<void> {
  const [account] = sandbox.snapshot().accounts.filter(({ connected, company }) => connected && !company);
  const subject = { kind: "account", id: account?.id };
  const tasks = Object.values(taskSamples()).map((task) => {
    const { since, ...rest } = fieldsOf(task, "task");
    // What failed for days is given up with the next failure.
    return { ...rest, subject, ...(since !== undefined && { since: new Date().toISOString() }) };
  });
  const client = new SQSClient(access);
  const send = (queue: string, message: unknown) =>
    client.send(
      new SendMessageCommand({ QueueUrl: outputOf(stack, queue), MessageBody: JSON.stringify(message) }),
    );
  for (const task of tasks) await send("FetchQueueUrl", task);
  await send("AccountsQueueUrl", envelopeSamples().facts);
  client.destroy();
}

/** What the schedules would invoke; what fails, for the provider is down, the next one does. */
export async function invokeScheduled({ stack }: System): Promise<void> {
  for (const output of ["RefreshFunctionName", "RegisterFunctionName", "ReconcileFunctionName"]) {
    const name = outputOf(stack, output);
    await stack.functions.find((each) => each.name === name)?.invoke("{}");
  }
}

/** Brings rounds until each function was invoked so often. @throws naming those that the load does not reach */
export async function sendLoad(
  system: System,
  functions: readonly LocalFunction[],
  invocations: number,
): Promise<void> {
  const begun = functions.map((each) => ({ each, before: each.counts().invocations }));
  const unreached = () =>
    begun.filter(({ each, before }) => each.counts().invocations < before + invocations);
  for (let round = 0; round < invocations || unreached().length > 0; round += 1) {
    if (round === maxRounds) {
      const names = unreached().map(({ each }) => each.logicalId);
      throw new Error(`The load does not reach ${names.join(", ")}: add to it what does`);
    }
    await sendRound(system, round);
  }
}
