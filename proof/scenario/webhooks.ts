import { setTimeout as wait } from "node:timers/promises";
import type { Webhook } from "./traffic.ts";

export type Account = { readonly id: string; readonly userId: string };

/** URL of the webhooks, and the headers that they must have. */
export type Target = { readonly url: string; readonly secret: Readonly<Record<string, string>> };

type Subjects = {
  readonly users: readonly string[];
  readonly accounts: readonly Account[];
  readonly companyAccounts: readonly Account[];
};

const kinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
/** Too large for a message or an item, so it is stored in the overflow bucket. */
const padding = "x".repeat(400_000);

/**
 * Sends a provider's bad day: bodies three times, late repeats that contradict the state, large ones,
 * unreadable ones, and wrong secrets.
 * @returns accepted bodies that cannot become events: each must end in a dead-letter queue
 */
export async function sendBadInput(
  target: Target,
  { users, accounts, companyAccounts }: Subjects,
): Promise<readonly Webhook[]> {
  const good = [
    ...users.slice(0, 1).map(largeUserEvent),
    ...accounts.slice(0, 1).flatMap(({ id: account_id, userId: user_id }) => [
      json("accounts", { event: "update_account", account_id, user_id, connected: true, padding }),
      json("endpoints", {
        event: "update_endpoint",
        account_id,
        user_id,
        endpoint: "profile",
        data_available: true,
        padding,
      }),
    ]),
    ...companyAccounts.slice(0, 1).map(({ id: company_account_id, userId: user_id }) =>
      json("company-accounts", {
        event: "update_account",
        company_account_id,
        user_id,
        connected: true,
        padding,
      }),
    ),
    // Late reports: the account was disconnected once, and is connected again by now.
    ...["disconnect_account", "create_account"].flatMap((event) =>
      accounts
        .slice(0, 5)
        .map(({ id: account_id, userId: user_id }) =>
          json("accounts", { event, account_id, user_id, connected: false, sent_by: "scenario" }),
        ),
    ),
  ];
  const poison = kinds.flatMap((kind) => [
    // An unreadable body of users may contain a credential, so it is answered 503. An empty one is stored.
    { kind, body: Buffer.from(kind === "users" ? "" : '{"action":') },
    json(kind, { action: "no_such_event", event: "no_such_event" }),
  ]);
  // One at a time within a kind: an account's announcements have an order.
  const once = Map.groupBy([...good, ...poison], ({ kind }) => kind).values();
  await Promise.all([...once].map((webhooks) => sendInTurn(target, webhooks)));
  await Promise.all([...good, ...good].map((webhook) => sendInTurn(target, [webhook])));
  // A URL with a trailing slash has its own function.
  await sendInTurn(
    target,
    users.slice(0, 1).map((id) => ({ ...largeUserEvent(id), kind: "users/" })),
  );
  await sendWrongSecrets(target);
  return poison;
}

/** Sends a user's event and an unreadable body, both too large for a message. */
export async function sendLargeOf(target: Target, userId: string): Promise<void> {
  // Unreadable bodies of users are not stored.
  const unreadable = { kind: "accounts", body: Buffer.from(`{"user":"${userId}",${padding}`) };
  await sendInTurn(target, [largeUserEvent(userId), unreadable]);
}

/** Sends each until it is accepted, as the provider would. */
async function sendInTurn(target: Target, webhooks: readonly Webhook[]): Promise<void> {
  for (const webhook of webhooks) {
    let status = 0;
    for (let tries = 0; tries < 15 && (status === 0 || status >= 500); tries += 1) {
      // Backs off: a function that starts on a busy machine takes time.
      await wait(tries * 200);
      status = await post(target, webhook);
    }
    if (status < 200 || status >= 300) throw new Error(`A webhook of ${webhook.kind} was answered ${status}`);
  }
}

async function sendWrongSecrets({ url, secret }: Target): Promise<void> {
  const wrong = Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, `${value}x`]));
  for (const kind of kinds) {
    for (const headers of [wrong, {}]) {
      const status = await post({ url, secret: headers }, json(kind, { action: "create_user" }));
      if (status !== 401) throw new Error(`A webhook of ${kind} with a wrong secret was answered ${status}`);
    }
  }
}

async function post({ url, secret }: Target, { kind, body }: Webhook): Promise<number> {
  const response = await fetch(`${url}/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...secret },
    body: new Uint8Array(body),
  });
  await response.arrayBuffer();
  return response.status;
}

function largeUserEvent(id: string): Webhook {
  return json("users", { action: "update_user", data: { id }, padding });
}

function json(kind: string, payload: object): Webhook {
  return { kind, body: Buffer.from(JSON.stringify(payload)) };
}
