import type { EndpointName } from "@income-events/sandbox/endpoint-names.ts";
import type { CreatedUsers, CreateUsersOptions, FireOptions } from "@income-events/sandbox/environment.ts";
import type { Snapshot } from "@income-events/sandbox/snapshot.ts";
import type { WebhookKind } from "@income-events/sandbox/webhooks.ts";

/** Everything that exists at the provider, and its data by `<account>/<endpoint>`. */
export type Truth = { readonly snapshot: Snapshot; readonly data: ReadonlyMap<string, unknown> };

/** Methods of the provider's process. */
export type ProviderMethods = {
  start(): Promise<{ readonly url: string; readonly token: string }>;
  createUsers(count: number, options: CreateUsersOptions): Promise<CreatedUsers>;
  /** @returns the number of deliveries */
  fire(kind: WebhookKind, payload: object | string, options: FireOptions): number;
  /** Resends the latest events of each kind. */
  resend(perKind: number): void;
  /** Resends what was delivered about a person. */
  resendOf(id: string): void;
  change(accountId: string, how: "disconnect" | "reconnect" | "delete"): void;
  deleteUser(userId: string): void;
  replaceMetadata(userId: string, metadata: Readonly<Record<string, unknown>>): void;
  fetchData(accountId: string, endpoints: readonly EndpointName[]): void;
  headers(kind: WebhookKind): Readonly<Record<string, string>>;
  /** Limits the attempts of each webhook from now on; null: until it is answered. */
  limitTries(most: number | null): void;
  /** Deliveries in progress. */
  pending(): number;
  deliveries(): number;
  /** Deliveries that ended without an accepted attempt. */
  givenUp(): number;
  truth(): Truth;
};
