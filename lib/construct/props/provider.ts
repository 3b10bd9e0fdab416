// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration, Size } from "aws-cdk-lib";

/** The settings `provider.*`. */
export interface ProviderProps {
  /**
   * The provider environment that the stage uses: `sandbox` or `production`.
   * @default "sandbox"
   */
  readonly environment?: "sandbox" | "production";
  /** The settings `provider.baseUrls.*`. */
  readonly baseUrls?: ProviderBaseUrlsProps;
  /**
   * Version of the provider's interface: `0.4` or `0.5`. With `0.5` every version defaults to `v0.5`, company paths begin with `/company/<version>`, registrations send `"enabled": true`, and the list of webhooks shows what is registered.
   * @default "0.4"
   */
  readonly interface?: "0.4" | "0.5";
  /** The settings `provider.versions.*`. */
  readonly versions?: ProviderVersionsProps;
  /** The settings `provider.paths.*`. */
  readonly paths?: ProviderPathsProps;
  /**
   * Maximum calls to the provider in any minute, over all functions; at least 3. From 3 to 1000000.
   * @default 1000
   */
  readonly requestsPerMinute?: number;
  /** The settings `provider.breaker.*`. */
  readonly breaker?: ProviderBreakerProps;
  /** The settings `provider.timeouts.*`. */
  readonly timeouts?: ProviderTimeoutsProps;
  /**
   * Maximum size of a response, after decompression. The task of a larger one becomes a dead letter. If you raise it, raise `functions.fetch.memoryMb` (1024) too. From 1024 to 104857600.
   * @default 20971520
   */
  readonly maxResponseBytes?: number | Size;
  /**
   * Maximum size of all pages of a document together. From 1024 to 1073741824.
   * @default 104857600
   */
  readonly maxDataBytes?: number | Size;
  /** The settings `provider.paging.*`. */
  readonly paging?: ProviderPagingProps;
  /**
   * Where a response with status 200 reports an error: names joined by dots, such as `error.code`. A response with a value there counts as an error, whatever else it contains.
   * @default - not set
   */
  readonly errorPath?: string;
  /**
   * Meaning of an error at `provider.errorPath`. `failed`: the provider failed; retry as after a 503. `not-ready`: the data is not available yet; retry as after a 202.
   * @default "failed"
   */
  readonly errorMeans?: "failed" | "not-ready";
  /**
   * `true` allows a provider on this machine or in a private network, such as an emulator or a VPC. Otherwise such an address is refused in the settings and in the parameter `ProviderBaseUrl`. A name that resolves to such an address is refused at the first call, for example by `token set`.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** The settings `provider.baseUrls.*`. */
export interface ProviderBaseUrlsProps {
  /**
   * Base address of the provider's sandbox environment: `https://host`, with the host in lower case, no query and no trailing slash.
   * @default "https://sandbox.income-data.example"
   */
  readonly sandbox?: string;
  /**
   * Base address of the provider's production environment, in the same form.
   * @default "https://income-data.example"
   */
  readonly production?: string;
}

/** The settings `provider.versions.*`. */
export interface ProviderVersionsProps {
  /**
   * Version in all paths but those of the webhooks, the company API and the token refresh.
   * @default - `v0.4`; with interface 0.5 `v0.5`
   */
  readonly api?: string;
  /**
   * Version in the path of the token refresh: `v0.5`, `v0.4` or `v0.3`.
   * @default - `v0.4`; with interface 0.5 `v0.5`
   */
  readonly refresh?: "v0.5" | "v0.4" | "v0.3";
  /**
   * Version in the paths of the webhooks.
   * @default - `v0.3`; with interface 0.5 `v0.5`
   */
  readonly webhooks?: string;
  /**
   * Version in the paths of the company API.
   * @default - `v0.5`
   */
  readonly company?: string;
}

/** The settings `provider.paths.*`. */
export interface ProviderPathsProps {
  /** The settings `provider.paths.start.*`. */
  readonly start?: ProviderPathsStartProps;
  /**
   * Path that returns an endpoint's data.
   * @default - `/api/<version>/accounts/{account_id}/{endpoint}`
   */
  readonly read?: string;
  /**
   * Path that returns an endpoint's data for a company account.
   * @default - `/api/<version>/company-accounts/{account_id}/{endpoint}`
   */
  readonly readCompany?: string;
  /**
   * Paths of endpoints to read by date range, as `{"<endpoint>": "<path>"}`. Each range that an event names becomes one document; all other endpoints are read whole.
   * @default - not set
   */
  readonly readRange?: Readonly<Record<string, string>>;
  /**
   * The same as `provider.paths.readRange`, for company accounts.
   * @default - not set
   */
  readonly readCompanyRange?: Readonly<Record<string, string>>;
  /**
   * Path that returns the state of an account.
   * @default - `/api/<version>/accounts/{account_id}`
   */
  readonly account?: string;
  /**
   * Path that returns the state of a company account.
   * @default - `/api/<version>/company-accounts/{account_id}`
   */
  readonly companyAccount?: string;
  /**
   * Path that returns the state of a user.
   * @default - not set
   */
  readonly user?: string;
  /**
   * Path that lists the users.
   * @default - `/api/<version>/users`
   */
  readonly users?: string;
  /**
   * Path that lists a user's accounts; contains `{user_id}`. If unset, accounts are not compared.
   * @default - not set
   */
  readonly userAccounts?: string;
  /**
   * Path that returns a new token.
   * @default - `/api/<version>/token/refresh`
   */
  readonly refresh?: string;
  /** The settings `provider.paths.webhooks.*`. */
  readonly webhooks?: ProviderPathsWebhooksProps;
  /**
   * Path that registers the webhook for company accounts.
   * @default - `/api/company/<version>/webhooks/accounts`
   */
  readonly companyWebhooks?: string;
  /**
   * Path that registers the webhook for data of company accounts, with the address of `endpoints`.
   * @default - `/company/<version>/webhooks/endpoints` with interface 0.5
   */
  readonly companyEndpointWebhooks?: string;
}

/** The settings `provider.paths.start.*`. */
export interface ProviderPathsStartProps {
  /**
   * HTTP method of the call that starts a data fetch: GET, POST or PUT.
   * @default "POST"
   */
  readonly method?: "GET" | "POST" | "PUT";
  /** Path of the call that starts a data fetch; contains `{account_id}`. */
  readonly path: string;
  /**
   * JSON body of the call that starts a data fetch. `{account_id}` and `{endpoints}` are replaced.
   * @default - not set
   */
  readonly body?: unknown;
}

/** The settings `provider.paths.webhooks.*`. */
export interface ProviderPathsWebhooksProps {
  /**
   * Path that registers the webhook of this kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly users?: string;
  /**
   * Path that registers the webhook of this kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly accounts?: string;
  /**
   * Path that registers the webhook of this kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly endpoints?: string;
  /**
   * Path that registers the webhook whose events name several endpoints, with the address of `endpoints`.
   * @default - `/api/<version>/webhooks/multi-endpoints` with interface 0.5
   */
  readonly multiEndpoints?: string;
  /**
   * Path that registers the webhook for events of the connection flow, with the address of `accounts`. `mapping.accounts.types` maps its events.
   * @default - not set
   */
  readonly connectEvents?: string;
}

/** The settings `provider.breaker.*`. */
export interface ProviderBreakerProps {
  /**
   * Consecutive failed calls of one caller that open the circuit breaker, which stops all calls. From 1 to 1000.
   * @default 5
   */
  readonly failures?: number;
  /**
   * Delay before the first probe of the provider while the breaker is open. It doubles with each failed probe. From 1 to 3600.
   * @default 10
   */
  readonly baseSeconds?: number | Duration;
  /**
   * Maximum delay between two probes. The provider's `Retry-After` may extend it. From 1 to 3600.
   * @default 300
   */
  readonly maxSeconds?: number | Duration;
}

/** The settings `provider.timeouts.*`. */
export interface ProviderTimeoutsProps {
  /**
   * Timeout for connecting to the provider. From 1 to 60.
   * @default 5
   */
  readonly connectSeconds?: number | Duration;
  /**
   * Timeout from the request to the response headers. From 1 to 300.
   * @default 20
   */
  readonly headersSeconds?: number | Duration;
  /**
   * Timeout between two chunks of the response body. A whole call may take the sum of the three timeouts. From 1 to 300.
   * @default 20
   */
  readonly bodySeconds?: number | Duration;
}

/** The settings `provider.paging.*`. */
export interface ProviderPagingProps {
  /**
   * How to request the next page. `cursor`: send the value at `next` as `parameter`. `link`: call the address or path at `next`. `page`: count pages from 1 in `parameter` until one is empty.
   * @default "cursor"
   */
  readonly by?: "cursor" | "page" | "link";
  /**
   * Where a response that is an object has its list.
   * @default "data"
   */
  readonly items?: string;
  /**
   * Where a response has the next cursor or link. On the last page it is null, false, 0, "" or absent.
   * @default "next"
   */
  readonly next?: string;
  /**
   * Query parameter for the cursor or the page number.
   * @default - cursor, or page
   */
  readonly parameter?: string;
  /** The settings `provider.paging.pageSize.*`. */
  readonly pageSize?: ProviderPagingPageSizeProps;
  /**
   * Maximum pages of a list. The task of a longer list becomes a dead letter. From 1 to 100000.
   * @default 1000
   */
  readonly maxPages?: number;
}

/** The settings `provider.paging.pageSize.*`. */
export interface ProviderPagingPageSizeProps {
  /**
   * Query parameter for the page size.
   * @default "limit"
   */
  readonly parameter?: string;
  /** Items to request per page. From 1 to 100000. */
  readonly items: number;
}
