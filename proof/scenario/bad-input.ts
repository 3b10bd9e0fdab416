import { setTimeout as wait } from "node:timers/promises";
import type { Accepted } from "./expectation.ts";

/** A webhook as this scenario sends it, beside those of the sandbox. */
export type Webhook = {
  readonly kind: string;
  readonly body: Buffer;
  readonly headers: Record<string, string>;
};

/** What the scenario sent itself, by what became of it. */
export type Sent = {
  /** Accepted bodies that must become events. */
  readonly good: readonly Accepted[];
  /** Accepted bodies that can't become events: each must end in a dead-letter queue. */
  readonly poison: readonly Accepted[];
};

export type Account = { readonly id: string; readonly userId: string };

const kinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
/** Too large for a message or an item, so that it goes through the overflow bucket. */
const largeBytes = 400_000;

/** Sends webhooks and says which were accepted; a failing one is sent again, as the provider would. */
export type Post = (webhook: Webhook) => Promise<number>;

export function poster(webhooksUrl: string): Post {
  return async ({ kind, body, headers }) => {
    const response = await fetch(`${webhooksUrl}/${kind}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: new Uint8Array(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
}

type Subjects = {
  readonly users: readonly string[];
  readonly accounts: readonly Account[];
  readonly companyAccounts: readonly Account[];
};

/**
 * Sends what a provider's bad day brings: bodies three times, late repeats that contradict the state, large ones,
 * unreadable ones, and wrong secrets.
 */
export async function sendBadInput(
  post: Post,
  secret: Record<string, string>,
  { users, accounts, companyAccounts }: Subjects,
): Promise<Sent> {
  const good = [
    ...users.slice(0, 1).map((id) => large("users", { action: "update_user", data: { id } })),
    ...accounts
      .slice(0, 1)
      .map((account) => large("accounts", accountEvent("update_account", account, true))),
    ...accounts.slice(0, 1).map(({ id, userId }) => large("endpoints", endpointEvent(id, userId))),
    ...companyAccounts.slice(0, 1).map((account) => large("company-accounts", companyEvent(account))),
    // Late news of the past: the account was disconnected once, and is connected again by now.
    ...accounts
      .slice(0, 5)
      .map((account) => json("accounts", accountEvent("disconnect_account", account, false))),
    ...accounts
      .slice(0, 5)
      .map((account) => json("accounts", accountEvent("create_account", account, false))),
  ];
  const poison = kinds.flatMap((kind) => [
    { kind, body: Buffer.from('{"action":') },
    json(kind, { action: "no_such_event", event: "no_such_event" }),
  ]);
  // Those of a kind one after another: what an account is announced has an order.
  const once = Map.groupBy([...good, ...poison], ({ kind }) => kind).values();
  await Promise.all(
    [...once].map(async (webhooks) => {
      for (const webhook of webhooks) await accept(post, { ...webhook, headers: secret });
    }),
  );
  await Promise.all([...good, ...good].map((webhook) => accept(post, { ...webhook, headers: secret })));
  await sendWrongSecrets(post, secret);
  return { good, poison };
}

/** Sends, of one user, an event and what can't be read: both too large for a message. */
export async function sendLargeOf(
  post: Post,
  headers: Record<string, string>,
  userId: string,
): Promise<void> {
  const event = large("users", { action: "update_user", data: { id: userId } });
  // Of user events nothing that can't be read is kept.
  const unreadable = { kind: "accounts", body: Buffer.from(`{"user":"${userId}",${"x".repeat(largeBytes)}`) };
  for (const webhook of [event, unreadable]) await accept(post, { ...webhook, headers });
}

async function accept(post: Post, webhook: Webhook): Promise<void> {
  for (let tries = 0; tries < 15; tries += 1) {
    // Longer each time: a function that starts on a busy machine takes its time.
    await wait(tries * 200);
    const status = await post(webhook);
    if (status >= 200 && status < 300) return;
    if (status < 500) throw new Error(`A webhook of ${webhook.kind} was answered ${status}`);
  }
  throw new Error(`A webhook of ${webhook.kind} was never accepted`);
}

async function sendWrongSecrets(post: Post, secret: Record<string, string>): Promise<void> {
  const wrong = Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, `${value}x`]));
  for (const kind of kinds) {
    for (const headers of [wrong, {}]) {
      const status = await post({ ...json(kind, { action: "create_user" }), headers });
      if (status !== 401) throw new Error(`A webhook of ${kind} with a wrong secret was answered ${status}`);
    }
  }
}

function json(kind: string, payload: object): Accepted {
  return { kind, body: Buffer.from(JSON.stringify(payload)) };
}

function large(kind: string, payload: object): Accepted {
  return json(kind, { ...payload, padding: "x".repeat(largeBytes) });
}

function accountEvent(event: string, { id, userId }: Account, connected: boolean): object {
  return { event, account_id: id, user_id: userId, connected, sent_by: "scenario" };
}

function companyEvent({ id, userId }: Account): object {
  return { event: "update_account", company_account_id: id, user_id: userId, connected: true };
}

function endpointEvent(accountId: string, userId: string): object {
  return {
    event: "update_endpoint",
    account_id: accountId,
    user_id: userId,
    endpoint: "profile",
    data_available: true,
  };
}
