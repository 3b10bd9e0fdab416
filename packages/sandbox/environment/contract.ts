/** Options, state and controls of an environment. */

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
  /** System time; default 10 s. */
  readonly timeoutMs?: number;
  /** Wait before the first retry, doubled after each failure up to `maxRetryMs`; default 30 s. */
  readonly firstRetryMs?: number;
  /** Default one hour. */
  readonly maxRetryMs?: number;
  /**
   * Maximum attempts of a delivery, evaluated at each failure; default: three in interface 0.5, else limited
   * by time only.
   */
  readonly tries?: () => number | undefined;
  /** Maximum concurrent calls; default 16. */
  readonly concurrency?: number;
  readonly onAttempt?: (attempt: Attempt) => void;
};

export type EnvironmentOptions = {
  /** Version of the provider's interface; default `0.4`. */
  readonly interface?: ProviderInterface;
  /** Seed of ids and data; default 1. */
  readonly seed?: number;
  /** Default one hour. */
  readonly tokenLifetimeSeconds?: number;
  /**
   * Remaining lifetime of the initial token, whose `iat` is set back accordingly; default: a full lifetime.
   */
  readonly initialTokenRemainingSeconds?: number;
  /** Whether a refresh revokes the old token; default false. */
  readonly refreshEndsToken?: boolean;
  /** Whether an event announces a new account, unless its creator chooses; default true. */
  readonly alertOnAccountCreation?: boolean;
  /** Duration of a data fetch on the clock; default 0. */
  readonly fetchDurationMs?: number;
  readonly delivery?: DeliveryOptions;
  /** Rate limit, beyond which calls are answered 429; default: unlimited. */
  readonly requestsPerMinute?: number | undefined;
  /** Format of `Retry-After`; default: seconds. */
  readonly retryAfter?: RetryAfterForm;
  /** Maximum page size; absent: a list is complete unless a page is requested. */
  readonly pageSize?: number | undefined;
  /** Platforms that can be connected; default: invented ones. */
  readonly datasources?: readonly Datasource[];
  /** Duration of a credentials check on the clock; default 0. */
  readonly signInDurationMs?: number;
  readonly branding?: Branding;
};

export type DropOptions = {
  /** Records the events without sending them, as if they were lost; default false. */
  readonly drop?: boolean;
};

export type CreateUsersOptions = DropOptions & {
  /** Default 1. */
  readonly accountsPerUser?: number;
  /** Total company accounts, spread over the users; default 0. */
  readonly companyAccounts?: number;
  /** Number of accounts whose profile has a large picture; default 0. */
  readonly pictures?: number;
  /** Whether events announce the accounts; default: the environment's setting. */
  readonly accountAlert?: boolean;
  /** The operator's data about each user; default: a unique loan number, `loan_id`. */
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
  /** Number of deliveries of the same body; default 1. */
  readonly times?: number;
  /** Replace the webhook's headers of the same names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum attempts; by default limited by time only. */
  readonly maxAttempts?: number;
  /** Delay on the clock before the first attempt; default 0. */
  readonly delaySeconds?: number;
  /** Records the event without sending it. */
  readonly drop?: boolean;
};

/** An environment of the service: its API and the operator's controls. */
export type Environment = {
  readonly baseUrl: string;
  /** Initial token, issued out of band. */
  readonly token: string;
  /** Registers users, submits credentials and connects the accounts; queues the events for delivery. */
  createUsers(count: number, options?: CreateUsersOptions): Promise<CreatedUsers>;
  /**
   * Submits a user's credentials.
   * @returns the account's id
   * @throws if the user is unknown
   */
  createAccount(userId: string, options?: CreateAccountOptions): string;
  /**
   * Delivers any body to a kind's webhook.
   * @returns the deliveries' ids
   * @throws if a header cannot be sent
   */
  fireEvent(kind: WebhookKind, payload: object | string | Buffer, options?: FireOptions): readonly string[];
  /** Disconnects an account. This and the other changes throw if the account is unknown or deleted. */
  disconnectAccount(accountId: string, options?: DropOptions): void;
  reconnectAccount(accountId: string, options?: DropOptions): void;
  deleteAccount(accountId: string, options?: DropOptions): void;
  /**
   * Fetches an account's data unprompted, as the provider does daily.
   * @throws if the account is unknown
   */
  fetchData(accountId: string, endpoints: readonly EndpointName[]): void;
  /**
   * Replaces the operator's data about a user.
   * @throws if the user is unknown
   */
  replaceMetadata(userId: string, metadata: User["metadata"], options?: DropOptions): void;
  /** Deletes a user with its accounts. */
  deleteUser(userId: string): void;
  /** Makes the next calls fail, whether or not their tokens are valid. */
  fault(fault: Fault): void;
  clearFaults(): void;
  issueToken(remainingSeconds?: number): Promise<string>;
  /**
   * Invalidates every token issued so far.
   * @returns how many
   */
  endTokens(how: TokenEnd): number;
  /** Changes the shape of payloads; see `Shapes.set`. */
  shape(thing: ShapedThing, template: unknown): void;
  load(load: Load): void;
  /** Received calls, oldest first. */
  calls(): readonly Call[];
  deliveries(query?: DeliveryQuery): readonly Delivery[];
  /** Registered webhook of a kind; undefined if there is none. */
  webhook(kind: WebhookKind): Webhook | undefined;
  /**
   * Queues a delivery again.
   * @returns whether the id exists
   */
  resend(deliveryId: string): boolean;
  /** Resolves when no sign-in or fetch is running and no delivery is pending. */
  waitUntilIdle(): Promise<void>;
  /** Resolves when no attempt is running or due; deliveries waiting for a retry may remain. */
  quiet(): Promise<void>;
  /**
   * Sets the branding of the connection flow.
   * @throws a range error naming the invalid part
   */
  brand(branding: Branding): void;
  /** Usage of the connection flow, in production only. */
  analytics(): readonly FlowEvent[];
  openapi(): object;
  /** Everything that exists: what a pipeline that missed nothing has stored. */
  snapshot(): Snapshot;
  /** Answer to a data call of an account; undefined if it would be 404. */
  data(accountId: string, endpoint: string): unknown;
  close(): Promise<void>;
};
