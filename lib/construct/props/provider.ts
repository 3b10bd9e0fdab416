// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration, Size } from "aws-cdk-lib";

/** The settings `provider.*`. */
export interface ProviderProps {
  /**
   * The environment of the provider that the stage uses: `sandbox` or `production`.
   * @default "sandbox"
   */
  readonly environment?: "sandbox" | "production";
  /** The settings `provider.baseUrls.*`. */
  readonly baseUrls?: ProviderBaseUrlsProps;
  /**
   * The version of the provider's interface: `0.4` or `0.5`. With `0.5` every default version is `v0.5`, paths of companies begin with `/company/<version>`, registrations send `"enabled": true`, and what is registered is read from the list of webhooks.
   * @default "0.4"
   */
  readonly interface?: "0.4" | "0.5";
  /** The settings `provider.versions.*`. */
  readonly versions?: ProviderVersionsProps;
  /** The settings `provider.paths.*`. */
  readonly paths?: ProviderPathsProps;
  /**
   * Never more calls in any minute, of all functions together; at least 3. From 3 to 1000000.
   * @default 1000
   */
  readonly requestsPerMinute?: number;
  /** The settings `provider.breaker.*`. */
  readonly breaker?: ProviderBreakerProps;
  /** The settings `provider.timeouts.*`. */
  readonly timeouts?: ProviderTimeoutsProps;
  /**
   * A larger answer, also one that grows over it when it is decompressed, is cut off and its task given up; raise `functions.fetch.memoryMb` (1024) with it. From 1024 to 104857600.
   * @default 20971520
   */
  readonly maxResponseBytes?: number | Size;
  /**
   * The same for all pages of a document together. From 1024 to 1073741824.
   * @default 104857600
   */
  readonly maxDataBytes?: number | Size;
  /** The settings `provider.paging.*`. */
  readonly paging?: ProviderPagingProps;
  /**
   * Where an answer of status 200 has its error, such as `error.code`: names joined by dots. Something there means no data, whatever stands beside it.
   * @default - not set
   */
  readonly errorPath?: string;
  /**
   * What an error there means. `failed`: a failure of the provider, retried like a 503; `not-ready`: data that comes later, like a 202.
   * @default "failed"
   */
  readonly errorMeans?: "failed" | "not-ready";
  /**
   * True where the provider answers from this machine or a private network: an emulator, a stand-in, a VPC. Without it such an address is refused in the settings and as the parameter `ProviderBaseUrl`. A name that resolves to one is refused when it is called, first by `token set`.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** The settings `provider.baseUrls.*`. */
export interface ProviderBaseUrlsProps {
  /**
   * The base address of each environment: https://host, its host in lower case, without query or a slash at its end.
   * @default "https://sandbox.income-data.example"
   */
  readonly sandbox?: string;
  /**
   * The base address of each environment: https://host, its host in lower case, without query or a slash at its end.
   * @default "https://income-data.example"
   */
  readonly production?: string;
}

/** The settings `provider.versions.*`. */
export interface ProviderVersionsProps {
  /**
   * The version in these paths: in general, of the webhooks, of the company API.
   * @default - `v0.4`, `v0.3`, `v0.5`; with interface 0.5 `v0.5`
   */
  readonly api?: string;
  /**
   * The version in the path of the refresh: `v0.5`, `v0.4` or `v0.3`.
   * @default - `v0.4`, with interface 0.5 `v0.5`
   */
  readonly refresh?: "v0.5" | "v0.4" | "v0.3";
  /**
   * The version in these paths: in general, of the webhooks, of the company API.
   * @default - `v0.4`, `v0.3`, `v0.5`; with interface 0.5 `v0.5`
   */
  readonly webhooks?: string;
  /**
   * The version in these paths: in general, of the webhooks, of the company API.
   * @default - `v0.4`, `v0.3`, `v0.5`; with interface 0.5 `v0.5`
   */
  readonly company?: string;
}

/** The settings `provider.paths.*`. */
export interface ProviderPathsProps {
  /** The settings `provider.paths.start.*`. */
  readonly start?: ProviderPathsStartProps;
  /**
   * Reads an endpoint's data.
   * @default - `/api/<version>/accounts/{account_id}/{endpoint}`, `…/company-accounts/…`
   */
  readonly read?: string;
  /**
   * Reads an endpoint's data.
   * @default - `/api/<version>/accounts/{account_id}/{endpoint}`, `…/company-accounts/…`
   */
  readonly readCompany?: string;
  /**
   * `{"<endpoint>": "<path>"}`: these endpoints are read by the range of dates that an event names, each range as one document; all others are read whole.
   * @default - not set
   */
  readonly readRange?: Readonly<Record<string, string>>;
  /**
   * `{"<endpoint>": "<path>"}`: these endpoints are read by the range of dates that an event names, each range as one document; all others are read whole.
   * @default - not set
   */
  readonly readCompanyRange?: Readonly<Record<string, string>>;
  /**
   * Asks for a state.
   * @default - as `read`, without endpoint; none of a user
   */
  readonly account?: string;
  /**
   * Asks for a state.
   * @default - as `read`, without endpoint; none of a user
   */
  readonly companyAccount?: string;
  /**
   * Asks for a state.
   * @default - as `read`, without endpoint; none of a user
   */
  readonly user?: string;
  /**
   * Lists the users.
   * @default - `/api/<version>/users`
   */
  readonly users?: string;
  /**
   * The list of a user's accounts, with `{user_id}`; unset: accounts are not compared.
   * @default - not set
   */
  readonly userAccounts?: string;
  /**
   * Gives a new token.
   * @default - `/api/<version>/token/refresh`
   */
  readonly refresh?: string;
  /** The settings `provider.paths.webhooks.*`. */
  readonly webhooks?: ProviderPathsWebhooksProps;
  /**
   * Registers the webhook for company accounts.
   * @default - `/api/company/<version>/webhooks/accounts`
   */
  readonly companyWebhooks?: string;
  /**
   * Registers the webhook for company accounts' data, at the address of `endpoints`.
   * @default - `/company/<version>/webhooks/endpoints` with interface 0.5
   */
  readonly companyEndpointWebhooks?: string;
}

/** The settings `provider.paths.start.*`. */
export interface ProviderPathsStartProps {
  /**
   * Of the call that starts a fetch: GET, POST or PUT.
   * @default "POST"
   */
  readonly method?: "GET" | "POST" | "PUT";
  /** Of that call: a path with `{account_id}`; any JSON, in which `{account_id}` and `{endpoints}` are filled in. */
  readonly path: string;
  /**
   * Of that call: a path with `{account_id}`; any JSON, in which `{account_id}` and `{endpoints}` are filled in.
   * @default - not set
   */
  readonly body?: unknown;
}

/** The settings `provider.paths.webhooks.*`. */
export interface ProviderPathsWebhooksProps {
  /**
   * Registers the webhook of a kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly users?: string;
  /**
   * Registers the webhook of a kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly accounts?: string;
  /**
   * Registers the webhook of a kind.
   * @default - `/api/<version>/webhooks/<kind>`
   */
  readonly endpoints?: string;
  /**
   * Registers the webhook whose events name several endpoints, at the address of `endpoints`.
   * @default - `/api/<version>/webhooks/multi-endpoints` with interface 0.5
   */
  readonly multiEndpoints?: string;
  /**
   * Registers the webhook of the connection flow's events, at the address of `accounts`; `types` decides what becomes of them.
   * @default - not set
   */
  readonly connectEvents?: string;
}

/** The settings `provider.breaker.*`. */
export interface ProviderBreakerProps {
  /**
   * So many failed calls in a row, of one caller, stop all calls. From 1 to 1000.
   * @default 5
   */
  readonly failures?: number;
  /**
   * The first wait before one call probes the provider; doubles each time. From 1 to 3600.
   * @default 10
   */
  readonly baseSeconds?: number | Duration;
  /**
   * The longest wait between two probes; the provider's `Retry-After` may ask for more. From 1 to 3600.
   * @default 300
   */
  readonly maxSeconds?: number | Duration;
}

/** The settings `provider.timeouts.*`. */
export interface ProviderTimeoutsProps {
  /**
   * To connect. From 1 to 60.
   * @default 5
   */
  readonly connectSeconds?: number | Duration;
  /**
   * From the request to the answer's headers. From 1 to 300.
   * @default 20
   */
  readonly headersSeconds?: number | Duration;
  /**
   * Between two parts of the answer's body; a call ends within the sum of the three. From 1 to 300.
   * @default 20
   */
  readonly bodySeconds?: number | Duration;
}

/** The settings `provider.paging.*`. */
export interface ProviderPagingProps {
  /**
   * `cursor`: what stands at `next` is sent as `parameter`; `link`: it is the next page's address or path; `page`: pages are counted from 1 in `parameter`, until one is empty.
   * @default "cursor"
   */
  readonly by?: "cursor" | "page" | "link";
  /**
   * Where an object has its list.
   * @default "data"
   */
  readonly items?: string;
  /**
   * Null, false, 0, "" or nothing there: the last page.
   * @default "next"
   */
  readonly next?: string;
  /**
   * The query parameter for the cursor or the page's number.
   * @default - cursor, or page
   */
  readonly parameter?: string;
  /** The settings `provider.paging.pageSize.*`. */
  readonly pageSize?: ProviderPagingPageSizeProps;
  /**
   * A longer list goes to the dead-letter queue. From 1 to 100000.
   * @default 1000
   */
  readonly maxPages?: number;
}

/** The settings `provider.paging.pageSize.*`. */
export interface ProviderPagingPageSizeProps {
  /**
   * The query parameter of a page's size.
   * @default "limit"
   */
  readonly parameter?: string;
  /** The size that is asked for, in items. From 1 to 100000. */
  readonly items: number;
}
