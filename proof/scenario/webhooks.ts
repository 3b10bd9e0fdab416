import { setTimeout as wait } from "node:timers/promises";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import { type WebhookKind, webhookKinds } from "@income-events/sandbox/webhooks.ts";

/** A webhook's body for the sandbox to send. */
export type BadWebhook = { readonly kind: WebhookKind; readonly body: Buffer };

/** A user and the user's accounts. */
export type Person = {
  readonly userId: string;
  readonly accountId: string;
  readonly companyAccountId: string;
};

/** Too large for a message or an item, so it is stored in the bucket. */
const padding = "x".repeat(400_000);
/** Attempts of a webhook with a wrong secret: a fault may come before the refusal. */
const triesOfRefused = 8;

/** Reports of each kind that are too large for a message or an item. */
export function largeReports({
  userId: user_id,
  accountId: account_id,
  companyAccountId: company_account_id,
}: Person): readonly BadWebhook[] {
  const update = { event: "update_account", user_id, connected: true, padding };
  const endpoint = { event: "update_endpoint", endpoint: "profile", data_available: true, padding };
  return [
    largeUserReport(user_id),
    webhook("accounts", { ...update, account_id }),
    webhook("endpoints", { ...endpoint, account_id, user_id }),
    webhook("company-accounts", { ...update, company_account_id }),
  ];
}

function largeUserReport(id: string): BadWebhook {
  return webhook("users", { action: "update_user", data: { id }, padding });
}

/** Reports a user and an unreadable body, both too large for a message. */
export function largeReportsOf(userId: string): readonly BadWebhook[] {
  // Unreadable bodies of users are not stored.
  const unreadable = { kind: "accounts", body: Buffer.from(`{"user":"${userId}",${padding}`) } as const;
  return [largeUserReport(userId), unreadable];
}

/**
 * A late report: the account was disconnected once, and is connected again by now.
 * @param mark fields that make the body distinct
 */
export function lateReport(
  event: "create_account" | "disconnect_account",
  { userId: user_id, accountId: account_id }: Pick<Person, "userId" | "accountId">,
  mark: object,
): BadWebhook {
  return webhook("accounts", { event, account_id, user_id, connected: false, ...mark });
}

/**
 * Bodies that cannot become events: each must end in a dead-letter queue.
 * @param mark fields that make the bodies distinct
 */
export function poison(mark: object = {}): readonly BadWebhook[] {
  const unreadable = JSON.stringify({ ...mark, action: "" }).slice(0, -1);
  return webhookKinds.flatMap((kind) => [
    // An unreadable body of users may contain a credential, so it is answered 503. An empty one is stored.
    { kind, body: Buffer.from(kind === "users" ? "" : unreadable) },
    webhook(kind, { action: "no_such_event", event: "no_such_event", ...mark }),
  ]);
}

/** Sends webhooks with a wrong and with an empty secret. */
export function sendRefused({ fireEvent, webhook }: Sandbox, mark: object = {}): void {
  for (const kind of webhookKinds) {
    const secrets = Object.entries(webhook(kind)?.headers ?? {});
    for (const refused of ["wrong", ""]) {
      const headers = Object.fromEntries(secrets.map(([name]) => [name, refused]));
      const payload = { action: "create_user", refused, ...mark };
      fireEvent(kind, payload, { headers, maxAttempts: triesOfRefused });
    }
  }
}

/**
 * Sends a user's report to a URL with a trailing slash, which has its own function, until it is accepted.
 * @throws if it is refused
 */
export async function sendToOtherPath(
  { webhook }: Sandbox,
  webhooksUrl: string,
  userId: string,
): Promise<void> {
  const { body } = largeUserReport(userId);
  for (let tries = 0; ; tries += 1) {
    // Backs off: a function that starts on a busy machine takes time.
    await wait(tries * 200);
    const { ok, status } = await fetch(`${webhooksUrl}/users/`, {
      method: "POST",
      headers: { "content-type": "application/json", ...webhook("users")?.headers },
      body: new Uint8Array(body),
    });
    if (ok) return;
    if (tries === 15 || status < 500) throw new Error(`A webhook was answered ${status}`);
  }
}

function webhook(kind: WebhookKind, payload: object): BadWebhook {
  return { kind, body: Buffer.from(JSON.stringify(payload)) };
}
