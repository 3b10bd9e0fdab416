import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import type { ProviderMethods } from "../provider/main.ts";
import type { Remote } from "../remote.ts";

/** Too large for a message or an item, so it is stored in the bucket. */
const padding = "x".repeat(400_000);
/** Attempts of a webhook with a wrong secret: a fault may come before the refusal. */
const triesOfRefused = 8;
/** Every erasure searches all dead letters, so they must not pile up. */
const roundsPerRefused = 4;

/**
 * Sends one round: new users and accounts, duplicates, late and contradicting reports, several events in one
 * webhook, large bodies, unreadable bodies, wrong secrets, other metadata, a deletion, data that the provider
 * fetched by itself.
 * @param round a unique number, so that each round's events are distinct
 * @returns users whom nothing else names
 */
export async function sendRound(
  provider: Remote<ProviderMethods>,
  round: number,
): Promise<readonly string[]> {
  const { users, accounts, companyAccounts } = await provider.call("createUsers", 3, {
    companyAccounts: 1,
    pictures: 1,
  });
  const [userId = "", secondUser = "", ...others] = users;
  const [accountId = "", secondAccount = ""] = accounts;
  const [companyAccountId = ""] = companyAccounts;
  await provider.call("createUsers", 1, { drop: true });
  const endpointEvent = {
    event: "update_endpoint",
    account_id: accountId,
    user_id: userId,
    endpoint: "profile",
    data_available: true,
  };
  const events = [
    ["users", { action: "update_user", data: { id: userId }, padding }],
    [
      "accounts",
      { event: "update_account", account_id: accountId, user_id: userId, connected: true, padding },
    ],
    ["endpoints", { ...endpointEvent, padding }],
    [
      "endpoints",
      {
        event: "update_multi_endpoint",
        account_id: accountId,
        user_id: userId,
        // Shared by no other event: two of one endpoint received in the same millisecond have one sequence.
        endpoints: ["activity", "assets"].map((endpoint) => ({ endpoint, data_available: true })),
      },
    ],
    [
      "company-accounts",
      {
        event: "update_account",
        company_account_id: companyAccountId,
        user_id: userId,
        connected: true,
        padding,
      },
    ],
    // Late reports: the account is connected again by now.
    [
      "accounts",
      { event: "disconnect_account", account_id: accountId, user_id: userId, connected: false, round },
    ],
    [
      "accounts",
      { event: "create_account", account_id: secondAccount, user_id: secondUser, connected: false, round },
    ],
  ] as const;
  // Concurrently, so that several consumers have the same event.
  for (const [kind, payload] of events) await provider.call("fire", kind, payload, { times: 3 });
  if (round % roundsPerRefused === 1) await sendRefused(provider, round);
  await provider.call("resend", 1);
  await provider.call("replaceMetadata", secondUser, { loan_id: `${secondUser}/${round}` });
  await provider.call("deleteAccount", secondAccount);
  await provider.call("fetchData", accountId, ["income", "employment"]);
  return others;
}

/** Sends unreadable bodies, bodies that cannot be understood, and wrong secrets. */
async function sendRefused(provider: Remote<ProviderMethods>, round: number): Promise<void> {
  for (const kind of webhookKinds) {
    // An unreadable body of users is not stored: it is answered 503 until the provider gives up.
    if (kind !== "users") await provider.call("fire", kind, `{"action": ${round}, `, {});
    await provider.call("fire", kind, { action: "no_such_event", event: "no_such_event", round }, {});
    const headers = await provider.call("headers", kind);
    const wrong = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}x`]));
    const refused = { action: "create_user", refused: round };
    await provider.call("fire", kind, refused, { headers: wrong, maxAttempts: triesOfRefused });
  }
}
