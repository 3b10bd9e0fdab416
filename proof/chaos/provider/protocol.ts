import type { EndpointName } from "@income-events/sandbox/endpoint-names.ts";
import type { CreatedUsers, CreateUsersOptions, FireOptions } from "@income-events/sandbox/environment.ts";
import type { Snapshot } from "@income-events/sandbox/snapshot.ts";
import type { WebhookKind } from "@income-events/sandbox/webhooks.ts";

/** What exists at the provider, and what it serves of it by `<account>/<endpoint>`. */
export type Truth = { readonly snapshot: Snapshot; readonly data: ReadonlyMap<string, unknown> };

/** What the provider's process does when it is asked. */
export type ProviderMethods = {
  start(): Promise<{ readonly url: string; readonly token: string }>;
  createUsers(count: number, options: CreateUsersOptions): Promise<CreatedUsers>;
  /** @returns how many deliveries this led to */
  fire(kind: WebhookKind, payload: object | string, options: FireOptions): number;
  /** Delivers the latest events of each kind once more. */
  resend(perKind: number): void;
  /** Delivers once more what was delivered of somebody. */
  resendOf(id: string): void;
  change(accountId: string, how: "disconnect" | "reconnect" | "delete"): void;
  deleteUser(userId: string): void;
  fetchData(accountId: string, endpoints: readonly EndpointName[]): void;
  /** The headers that are sent with the webhooks of a kind. */
  headers(kind: WebhookKind): Readonly<Record<string, string>>;
  /** Tries each webhook so often at most from now on; null: until it is answered. */
  limitTries(most: number | null): void;
  /** Deliveries that are neither done nor given up. */
  pending(): number;
  /** All deliveries so far. */
  deliveries(): number;
  truth(): Truth;
};
