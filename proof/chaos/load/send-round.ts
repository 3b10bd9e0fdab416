import type { Sandbox } from "@income-events/sandbox/server.ts";
import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { largeReports, lateReport, poison, sendRefused } from "../../scenario/webhooks.ts";

/** Every erasure searches all dead letters, so they must not pile up. */
const roundsPerRefused = 4;

/**
 * Sends one round: new users and accounts, duplicates, late and contradicting reports, several events in one
 * webhook, large bodies, unreadable bodies, wrong secrets, other metadata, a deletion, data that the provider
 * fetched by itself.
 * @param round a unique number, so that each round's events are distinct
 * @returns users whom nothing else names
 */
export async function sendRound(sandbox: Sandbox, round: number): Promise<readonly string[]> {
  const options = { companyAccounts: 1, pictures: 1 };
  const { users, accounts, companyAccounts } = await sandbox.createUsers(3, options);
  const [userId = "", secondUser = "", ...others] = users;
  const [accountId = "", secondAccount = ""] = accounts;
  const [companyAccountId = ""] = companyAccounts;
  await sandbox.createUsers(1, { drop: true });
  const several = {
    event: "update_multi_endpoint",
    account_id: accountId,
    user_id: userId,
    // Shared by no other event: two of one endpoint received in the same millisecond have one sequence.
    endpoints: ["activity", "assets"].map((endpoint) => ({ endpoint, data_available: true })),
  };
  const events = [
    ...largeReports({ userId, accountId, companyAccountId }),
    lateReport("disconnect_account", { userId, accountId }, { round }),
    lateReport("create_account", { userId: secondUser, accountId: secondAccount }, { round }),
  ];
  // Concurrently, so that several consumers have the same event.
  for (const { kind, body } of events) sandbox.fireEvent(kind, body, { times: 3 });
  sandbox.fireEvent("endpoints", several, { times: 3 });
  if (round % roundsPerRefused === 1) {
    for (const { kind, body } of poison({ round })) sandbox.fireEvent(kind, body);
    sendRefused(sandbox, { round });
  }
  for (const kind of webhookKinds) {
    const done = sandbox.deliveries({ kind, status: "delivered" }).slice(-1);
    for (const { id } of done) sandbox.resend(id);
  }
  sandbox.replaceMetadata(secondUser, { loan_id: `${secondUser}/${round}` });
  sandbox.deleteAccount(secondAccount);
  sandbox.fetchData(accountId, ["income", "employment"]);
  return others;
}
