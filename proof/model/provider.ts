import type { ApiCall } from "../../adapters/provider/provider-api.ts";
import { retryable } from "../../domain/core/failures.ts";
import { identify, identifyElement } from "../../domain/event/envelope.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { type ApiAnswer, dataIn, Unauthorized } from "../../domain/fetch/answer.ts";

/** A report that the provider sends until it is answered with 2xx. */
export type Webhook = {
  readonly kind: WebhookKind;
  readonly body: string;
  /** Identity of the webhook. */
  readonly id: string;
  /** Expected identities of its events, and of its dead letters. */
  readonly stored: readonly string[];
  readonly rejected: readonly string[];
  isAnswered: boolean;
};

export const changes = ["create", "update", "connect", "disconnect", "delete"] as const;
export type AccountChange = (typeof changes)[number];
export const things = [...changes, "data", "profile", "nonsense"] as const;
export type Thing = (typeof things)[number];

/** `connected` is undefined until an event reports it: an account's creation does not. */
type Account = { connected: boolean | undefined; deleted: boolean; data: number; profiles: number };

export const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";
export const otherUserId = "c2f7a1de-9b7c-4b53-8a0e-5f3f6f0e2b11";
export const userIds = [userId, otherUserId] as const;
/** Both are the first user's. */
export const accountIds = [
  "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10",
  "7f0a9c3e-52f6-4a0d-8a55-1d2c3b4a5968",
] as const;
const foreignAccountId = "1e4d7c88-6a52-4f0b-b1de-9c3a2f7b6d05";
export const allAccountIds = [...accountIds, foreignAccountId] as const;
export const endpoint = "income";
/** Of an account that has none, the provider answers 404. */
export const profile = "profile";

export function ownerOf(accountId: string): string {
  return accountId === foreignAccountId ? otherUserId : userId;
}

/**
 * The provider: its accounts and their data, webhooks, API and tokens. It is the state that the pipeline must
 * reach.
 */
export class Provider {
  readonly accounts = new Map<string, Account>(
    allAccountIds.map((id) => [id, { connected: undefined, deleted: false, data: 0, profiles: 0 }]),
  );
  /** The loan id in the metadata of each user who exists. */
  readonly loans = new Map<string, string>();
  readonly webhooks: Webhook[] = [];
  isDown = false;
  readonly #valid = new Set<string>();
  readonly #endsRefreshed: boolean;
  readonly #tellsStarted: boolean;
  #issued = 0;
  #moments = 0;

  /**
   * @param endsRefreshed whether a refresh revokes the old token
   * @param announcesStarted whether events announce data of fetches that were started by a call
   */
  constructor(endsRefreshed: boolean, announcesStarted = true) {
    this.#endsRefreshed = endsRefreshed;
    this.#tellsStarted = announcesStarted;
  }

  /**
   * Changes something and announces it by a webhook. Bodies are few, so that identical ones repeat.
   * @param isOwn whether the event has its own time or id
   */
  happen(accountId: string, thing: Thing, isOwn: boolean): void {
    const account = this.accounts.get(accountId);
    if (account === undefined || account.deleted) return;
    if (thing === "nonsense") this.#tell("accounts", { event: "dance", account_id: accountId });
    else if (thing === "data") this.#makeData(accountId, account, isOwn);
    else if (thing === "profile") this.#makeProfile(accountId, account, isOwn);
    else this.#change(accountId, account, thing, isOwn);
  }

  /** The user is created, or gets another of three loan ids, so that earlier values recur. */
  setLoan(user: (typeof userIds)[number], isOwn: boolean): void {
    const isNew = !this.loans.has(user);
    const loan = `${userIds.indexOf(user)}-${this.#moments % 3}`;
    this.loans.set(user, loan);
    this.#tell("users", {
      action: isNew ? "create_user" : "update_user",
      data: { id: user, metadata: { loan_id: loan } },
      ...this.#timed(isOwn),
    });
  }

  #timed(isOwn: boolean): { readonly time?: string } {
    this.#moments += 1;
    return isOwn ? { time: new Date(Date.UTC(2026, 0, 1, 0, this.#moments)).toISOString() } : {};
  }

  #change(accountId: string, account: Account, thing: AccountChange, isOwn: boolean): void {
    if (thing === "connect") account.connected = true;
    if (thing === "disconnect") account.connected = false;
    if (thing === "update") account.connected ??= false;
    if (thing === "delete") account.deleted = true;
    const { connected } = account;
    this.#tell("accounts", {
      event: `${thing}_account`,
      account_id: accountId,
      user_id: ownerOf(accountId),
      ...(thing === "update" ? { connected } : {}),
      ...(thing === "create" ? { connected: false } : {}),
      ...this.#timed(isOwn),
    });
  }

  /**
   * Answers a call and applies its effect.
   * @throws Unauthorized for an unknown or revoked token
   */
  answer(token: string, { path }: ApiCall): ApiAnswer {
    if (this.isDown) throw retryable("the provider is down");
    if (!this.#valid.has(token)) throw new Unauthorized();
    if (path === "/users") return { found: true, ...dataIn("[]") };
    if (path === "/refresh")
      return { found: true, ...dataIn(JSON.stringify({ token: this.#refreshed(token) })) };
    if (path.startsWith("/users/")) return this.#userNamed(path.slice("/users/".length));
    const [, id = "", what] = path.split("/");
    const account = this.accounts.get(id);
    if (account === undefined) throw retryable("the provider is mistaken");
    if (account.deleted) return { found: false };
    if (what === "start") {
      if (this.#tellsStarted) this.#makeData(id, account, true);
      // Another fetch brings nothing new.
      else account.data = Math.max(1, account.data);
      return { found: true, ...dataIn("{}") };
    }
    if (what === profile)
      return account.profiles === 0
        ? { found: false }
        : { found: true, ...dataIn(JSON.stringify({ data: [{ version: account.profiles }] })) };
    if (what?.startsWith(endpoint))
      return { found: true, ...dataIn(JSON.stringify(dataOf(id, account.data, what))) };
    return { found: true, ...dataIn(JSON.stringify({ connected: account.connected ?? false })) };
  }

  #userNamed(id: string): ApiAnswer {
    const loan = this.loans.get(id);
    if (loan === undefined) return { found: false };
    return { found: true, ...dataIn(JSON.stringify({ id, metadata: { loan_id: loan } })) };
  }

  issueToken(): string {
    this.#issued += 1;
    const token = `token-${this.#issued}`;
    this.#valid.add(token);
    return token;
  }

  isValid(token: string | undefined): boolean {
    return token !== undefined && this.#valid.has(token);
  }

  revoke(token: string | undefined): void {
    if (token !== undefined) this.#valid.delete(token);
  }

  #refreshed(token: string): string {
    if (this.#endsRefreshed) this.#valid.delete(token);
    return this.issueToken();
  }

  #makeProfile(accountId: string, account: Account, isOwn: boolean): void {
    account.profiles += 1;
    const about = { account_id: accountId, user_id: ownerOf(accountId) };
    const own = isOwn ? { request_id: `profile-${accountId}-${account.profiles}` } : {};
    this.#tell("endpoints", {
      ...{ event: "update_endpoint", ...about, endpoint: profile, data_available: true, ...own },
    });
  }

  #makeData(accountId: string, account: Account, isOwn: boolean): void {
    account.data += 1;
    const about = {
      account_id: accountId,
      // Data may come without its user.
      ...(account.data % 4 === 0 ? {} : { user_id: ownerOf(accountId) }),
      ...(isOwn ? { request_id: `request-${accountId}-${account.data}` } : {}),
    };
    const available = { endpoint, data_available: true };
    if (account.data % 3 === 0) this.#tellSeveral({ event: "update_multi_endpoint", ...about }, [available]);
    else this.#tell("endpoints", { event: "update_endpoint", ...about, ...available });
  }

  /** Each list also contains an endpoint that no mapping accepts. */
  #tellSeveral(about: object, endpoints: readonly object[]): void {
    const list = [{ endpoint: "no endpoint" }, ...endpoints];
    const body = JSON.stringify({ ...about, endpoints: list });
    const id = identify("endpoints", Buffer.from(body));
    const [rejected = "", ...stored] = list.map((each) =>
      identifyElement(id, JSON.stringify({ ...about, ...each }), 1),
    );
    this.webhooks.push({ kind: "endpoints", body, id, stored, rejected: [rejected], isAnswered: false });
  }

  #tell(kind: WebhookKind, payload: object): void {
    const body = JSON.stringify(payload);
    const id = identify(kind, Buffer.from(body));
    const [stored, rejected] = body.includes("dance") ? [[], [id]] : [[id], []];
    this.webhooks.push({ kind, body, id, stored, rejected, isAnswered: false });
  }
}

/** The second account's data is a list of two pages. */
function dataOf(accountId: string, version: number, request: string): object {
  if (accountId !== accountIds[1]) return { data: [{ version }] };
  return { data: [{ version }], ...(request === endpoint ? { next: "2" } : {}) };
}

/** Issue time of a token; all are near their end, so that each run of the refresher refreshes. */
export function readLifetime(token: string): { readonly issuedAt: number } {
  return { issuedAt: Number(token.slice("token-".length)) };
}
