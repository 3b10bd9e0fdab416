/** What an environment is started with, and what can be asked of it and done to it. */

import type { User } from "../accounts.ts";
import type { Call } from "../api/call-log.ts";
import type { Fault } from "../api/faults.ts";
import type { FlowEvent } from "../connect/analytics.ts";
import type { Branding } from "../connect/branding.ts";
import type { Datasource } from "../datasources.ts";
import type { Attempt } from "../delivery/engine.ts";
import type { Delivery, DeliveryQuery } from "../delivery/queue.ts";
import type { EndpointName } from "../endpoint-names.ts";
import type { Load } from "../load.ts";
import type { ProviderInterface, RetryAfterForm } from "../provider-interface.ts";
import type { SubmitOptions } from "../provider-model.ts";
import type { ShapedThing } from "../shapes.ts";
import type { Snapshot } from "../snapshot.ts";
import type { TokenEnd } from "../tokens.ts";
import type { Webhook, WebhookKind } from "../webhooks.ts";

export type DeliveryOptions = {
  /** Of the system's time; default 10 s. */
  readonly timeoutMs?: number;
  /** Doubled after each failure up to `maxRetryMs`; default 30 s. */
  readonly firstRetryMs?: number;
  /** Default one hour. */
  readonly maxRetryMs?: number;
  /** Calls for one delivery, asked for at each failed one; default: three by interface 0.5, else only time ends them. */
  readonly tries?: () => number | undefined;
  /** Calls at once; default 16. */
  readonly concurrency?: number;
  /** Is called for each call to a webhook, with what came of it. */
  readonly onAttempt?: (attempt: Attempt) => void;
};

export type EnvironmentOptions = {
  /** The version of the provider's interface that it speaks; default `0.4`. */
  readonly interface?: ProviderInterface;
  /** Ids and data follow from it; default 1. */
  readonly seed?: number;
  /** Default one hour. */
  readonly tokenLifetimeSeconds?: number;
  /** The life left in the initial token, its `iat` set back accordingly; default: a whole lifetime. */
  readonly initialTokenRemainingSeconds?: number;
  /** Whether a refresh ends the token that it was called with; default false. */
  readonly refreshEndsToken?: boolean;
  /** Whether an event announces an account's creation, where its creator does not choose; default true. */
  readonly alertOnAccountCreation?: boolean;
  /** How long a data fetch takes on the clock; default 0. */
  readonly fetchDurationMs?: number;
  readonly delivery?: DeliveryOptions;
  /** Unlimited by default; calls over it are answered 429. */
  readonly requestsPerMinute?: number;
  /** How `Retry-After` is written; default: in seconds. */
  readonly retryAfter?: RetryAfterForm;
  /** The most items of a list that are given at once; unset: a list is whole where no part of it is asked for. */
  readonly pageSize?: number;
  /** The platforms that can be connected; default: invented ones. */
  readonly datasources?: readonly Datasource[];
  /** How long a datasource takes to evaluate credentials, on the clock; default 0. */
  readonly signInDurationMs?: number;
  /** How the connection flow looks. */
  readonly branding?: Branding;
};

export type DropOptions = {
  /** Whether the events of all this are recorded and never sent, as if they were lost; default false. */
  readonly drop?: boolean;
};

export type CreateUsersOptions = DropOptions & {
  /** Default 1. */
  readonly accountsPerUser?: number;
  /** Company accounts in all, dealt out over the users; default 0. */
  readonly companyAccounts?: number;
  /** How many accounts have a large picture in their profiles; default 0. */
  readonly pictures?: number;
  /** Whether events announce the accounts' creation; default: the environment's choice. */
  readonly accountAlert?: boolean;
  /** What the operator keeps with each user; default: the number of a loan, `loan_id`, of its own. */
  readonly metadata?: User["metadata"];
};

export type CreateAccountOptions = Pick<SubmitOptions, "company" | "accountAlert"> & {
  /** Whether the datasource accepts the credentials at once; default true. */
  readonly connected?: boolean;
};

export type CreatedUsers = {
  readonly users: readonly string[];
  readonly accounts: readonly string[];
  readonly companyAccounts: readonly string[];
};

export type FireOptions = {
  /** How many deliveries of the same body; default 1. */
  readonly times?: number;
  /** Sent in place of the webhook's own headers of the same names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Given up after this many attempts; by default only time ends the retries. */
  readonly maxAttempts?: number;
  /** Sent first after this time on the clock; default 0. */
  readonly delaySeconds?: number;
  /** Recorded, never sent. */
  readonly drop?: boolean;
};

/** One environment of the service: its API and what an operator's bench does to it. */
export type Environment = {
  readonly baseUrl: string;
  /** The initial token, issued out of band. */
  readonly token: string;
  /** Registers users, submits credentials, connects the accounts; the events are queued for delivery. */
  createUsers(count: number, options?: CreateUsersOptions): Promise<CreatedUsers>;
  /** Submits credentials of a user. @returns the account's id @throws if the user is unknown */
  createAccount(userId: string, options?: CreateAccountOptions): string;
  /** Delivers any body to a kind's webhook. @returns the deliveries' ids @throws if a header can't be sent */
  fireEvent(kind: WebhookKind, payload: object | string | Buffer, options?: FireOptions): readonly string[];
  /** @throws if the account is unknown or deleted; so do the other changes */
  disconnectAccount(accountId: string, options?: DropOptions): void;
  reconnectAccount(accountId: string, options?: DropOptions): void;
  deleteAccount(accountId: string, options?: DropOptions): void;
  /** Fetches an account's data without being asked, as it does once a day. @throws if the account is unknown */
  fetchData(accountId: string, endpoints: readonly EndpointName[]): void;
  /** Replaces what the operator keeps with a user. @throws if the user is unknown */
  replaceMetadata(userId: string, metadata: User["metadata"], options?: DropOptions): void;
  /** Deletes the user's accounts as well. */
  deleteUser(userId: string): void;
  /** Lets the next calls fail, whether their tokens are valid or not. */
  fault(fault: Fault): void;
  /** Ends every fault. */
  clearFaults(): void;
  /** Issues one more token. */
  issueToken(remainingSeconds?: number): Promise<string>;
  /** Ends every token issued so far. @returns how many */
  endTokens(how: TokenEnd): number;
  /** Gives payloads another shape; see `Shapes.set`. */
  shape(thing: ShapedThing, template: unknown): void;
  /** Makes endpoint events at a rate. */
  load(load: Load): void;
  /** Every call received, the oldest first. */
  calls(): readonly Call[];
  deliveries(query?: DeliveryQuery): readonly Delivery[];
  /** What is registered for a kind; undefined where nothing is. */
  webhook(kind: WebhookKind): Webhook | undefined;
  /** Delivers an event once more. @returns whether there is one with this id */
  resend(deliveryId: string): boolean;
  /** Resolves when no sign-in and no fetch is under way and no delivery pending. */
  waitUntilIdle(): Promise<void>;
  /** Resolves when no delivery is being tried or due: those that wait for a retry may remain. */
  quiet(): Promise<void>;
  /** Sets how the connection flow looks. @throws a range error that names what is wrong */
  brand(branding: Branding): void;
  /** How the connection flow was used; in production only. */
  analytics(): readonly FlowEvent[];
  /** The API's OpenAPI description, as it is served. */
  openapi(): object;
  /** What exists: what a pipeline that missed nothing has in its tables. */
  snapshot(): Snapshot;
  /** What the data call of an account answers; undefined where it answers 404. */
  data(accountId: string, endpoint: string): unknown;
  close(): Promise<void>;
};
