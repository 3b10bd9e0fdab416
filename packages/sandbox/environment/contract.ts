/** Options of an environment and its controls. */

import type { User } from "../accounts.ts";
import type { Branding } from "../connect/branding.ts";
import type { Datasource } from "../datasources.ts";
import type { DeliveryOptions } from "../delivery/engine.ts";
import type { ProviderInterface, RetryAfterForm } from "../provider-interface.ts";
import type { SubmitOptions } from "../provider-model.ts";

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
