// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.

/** The settings `provider.*`. */
export interface ProviderProps {
  /** @default "sandbox" */
  readonly environment?: "sandbox" | "production";
  readonly baseUrls?: ProviderBaseUrlsProps;
  readonly versions?: ProviderVersionsProps;
  readonly paths?: ProviderPathsProps;
  /**
   * Never more calls in any minute, of all functions together; at least 3. From 3 to 1000000.
   * @default 1000
   */
  readonly requestsPerMinute?: number;
  readonly breaker?: ProviderBreakerProps;
  readonly timeouts?: ProviderTimeoutsProps;
  /**
   * A larger answer is cut off and its task given up; raise `functions.fetch.memoryMb` (1024) with it. From 1024 to 104857600.
   * @default 20971520
   */
  readonly maxResponseBytes?: number;
  /**
   * The same for all pages of a document together. From 1024 to 1073741824.
   * @default 104857600
   */
  readonly maxDataBytes?: number;
  readonly paging?: ProviderPagingProps;
  /**
   * True where the provider answers from this machine or a private network.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** The settings `provider.baseUrls.*`. */
export interface ProviderBaseUrlsProps {
  /** @default "https://sandbox.income-data.example" */
  readonly sandbox?: string;
  /** @default "https://income-data.example" */
  readonly production?: string;
}

/** The settings `provider.versions.*`. */
export interface ProviderVersionsProps {
  /** @default "v0.4" */
  readonly api?: string;
  /**
   * The version in the path of the refresh: `v0.4` or `v0.3`.
   * @default "v0.4"
   */
  readonly refresh?: "v0.4" | "v0.3";
  /** @default "v0.3" */
  readonly webhooks?: string;
  /** @default "v0.5" */
  readonly company?: string;
}

/** The settings `provider.paths.*`. */
export interface ProviderPathsProps {
  readonly start?: ProviderPathsStartProps;
  /** Reads an endpoint's data. */
  readonly read?: string;
  /** Reads an endpoint's data. */
  readonly readCompany?: string;
  /** Reads data by the dates that its event tells, each range as a document of its own; unset: as a whole. */
  readonly readRange?: string;
  /** Reads data by the dates that its event tells, each range as a document of its own; unset: as a whole. */
  readonly readCompanyRange?: string;
  /** Asks for a state. */
  readonly account?: string;
  /** Asks for a state. */
  readonly companyAccount?: string;
  /** Asks for a state. */
  readonly user?: string;
  readonly users?: string;
  /** The list of a user's accounts, with `{user_id}`; unset: accounts are not compared. */
  readonly userAccounts?: string;
  readonly refresh?: string;
  readonly webhooks?: ProviderPathsWebhooksProps;
  readonly companyWebhooks?: string;
}

/** The settings `provider.paths.start.*`. */
export interface ProviderPathsStartProps {
  /** @default "POST" */
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: unknown;
}

/** The settings `provider.paths.webhooks.*`. */
export interface ProviderPathsWebhooksProps {
  readonly users?: string;
  readonly accounts?: string;
  readonly endpoints?: string;
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
  readonly baseSeconds?: number;
  /**
   * The longest wait between two probes, and the longest `Retry-After` that is heeded. From 1 to 3600.
   * @default 300
   */
  readonly maxSeconds?: number;
}

/** The settings `provider.timeouts.*`. */
export interface ProviderTimeoutsProps {
  /**
   * To connect. From 1 to 60.
   * @default 5
   */
  readonly connectSeconds?: number;
  /**
   * From the request to the answer's headers. From 1 to 300.
   * @default 20
   */
  readonly headersSeconds?: number;
  /**
   * Between two parts of the answer's body; a call ends within the sum of the three. From 1 to 300.
   * @default 20
   */
  readonly bodySeconds?: number;
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
  /** The query parameter for the cursor or the page's number. */
  readonly parameter?: string;
  readonly pageSize?: ProviderPagingPageSizeProps;
  /**
   * A longer list goes to the dead-letter queue. From 1 to 100000.
   * @default 1000
   */
  readonly maxPages?: number;
}

/** The settings `provider.paging.pageSize.*`. */
export interface ProviderPagingPageSizeProps {
  /** @default "limit" */
  readonly parameter?: string;
  /** From 1 to 100000. */
  readonly items: number;
}
