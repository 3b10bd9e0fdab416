import { z } from "zod";
import { isPrivateHost } from "../../domain/core/addresses.ts";
import { errorMeanings } from "../../domain/fetch/answer.ts";
import { leastRequestsPerMinute } from "../../domain/fetch/call-limits.ts";
import { pagingStyles } from "../../domain/fetch/paging.ts";
import {
  choice,
  endpoint,
  fixedDuration,
  flag,
  remedyOf,
  scalableDuration,
  section,
  text,
  wholeNumber,
} from "./setting-types.ts";

/** Hosts under `.example` can never exist (RFC 2606). They are placeholders for a real address. */
export function isPlaceholder(baseUrl: string): boolean {
  return new URL(baseUrl).hostname.endsWith(".example");
}

/** Whether a base address names this machine or a private network. */
export function isPrivate(baseUrl: string): boolean {
  return isPrivateHost(new URL(baseUrl).hostname);
}

/**
 * Base addresses use https, because each call carries the token; plain http reaches this machine only. The pattern also
 * checks the deploy-time parameter, so it uses only what CloudFormation's AllowedPattern supports.
 */
export const baseUrlPattern =
  "^(https://([a-z0-9.-]+|\\[[0-9a-f:.]+\\])|http://(127\\.0\\.0\\.1|localhost))(:[0-9]+)?(/[A-Za-z0-9._-]+)*$";

/**
 * The same without private addresses, for the deploy-time parameter. It excludes all numeric addresses, because a
 * pattern can't tell which are private. What a name resolves to is checked when it is called.
 */
export const publicBaseUrlPattern = "^https://([a-z0-9-]+\\.)+[a-z][a-z0-9-]*(:[0-9]+)?(/[A-Za-z0-9._-]+)*$";

/** Text for messages. An address has only one valid form, so that two stages with the same environment are noticed. */
export const baseUrlForm =
  "an address as https://host, its host in lower case, without query or a slash at its end";

/** A host has at most 253 characters, and the environments of functions have room for few more. */
export const longestBaseUrl = 300;

const baseUrl = text(new RegExp(baseUrlPattern), `write ${baseUrlForm}`)
  .max(longestBaseUrl, { error: remedyOf(`shorten it to ${longestBaseUrl} characters`) })
  .refine((value) => URL.canParse(value), { error: remedyOf(`write ${baseUrlForm}`) });

const version = text(/^v\d+(\.\d+)?$/, 'write a version segment such as "v0.4"');

/**
 * A path template with exactly these placeholders. Without the account, a path would read one account's data for all of
 * them; an unknown placeholder would be sent to the provider as it is.
 */
function path(...placeholders: readonly string[]) {
  return pathWith(placeholders);
}

/** A path template with required and optional placeholders. */
function pathWith(required: readonly string[], optional: readonly string[] = []) {
  return text(/^\/(?!\/)/, 'write a path that begins with "/"').check(({ value, issues }) => {
    for (const message of placeholderFaults(value, required, [...required, ...optional])) {
      issues.push({ code: "custom", message, input: value });
    }
  });
}

function placeholderFaults(template: string, required: readonly string[], allowed: readonly string[]) {
  const used = [...template.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? "");
  const known = allowed.length === 0 ? "none is known here" : `known here: ${allowed.join(", ")}`;
  const unknown = used.filter((name) => !allowed.includes(name));
  const missing = required.filter((name) => !used.includes(name));
  return [
    ...unknown.map((name) => `has the unknown placeholder {${name}}; remove or correct it (${known})`),
    ...missing.map((name) => `lacks the placeholder {${name}}; put it where its value belongs`),
  ];
}

const bodyPlaceholders = ["endpoints", "account_id"];

/** Any JSON. The text `"{endpoints}"` is replaced by the list of endpoints to start. */
const body = z.json().check(({ value, issues }) => {
  for (const message of placeholderFaults(JSON.stringify(textsOf(value)), [], bodyPlaceholders)) {
    issues.push({ code: "custom", message, input: value });
  }
});

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const rangePaths = z.record(endpoint, pathWith(["account_id", "date_start", "date_end"], ["endpoint"]), {
  error: remedyOf('write an object: {"<endpoint>": "<path>"}'),
});

const paths = section({
  start: section({
    method: choice(["GET", "POST", "PUT"]).default("POST"),
    path: path("account_id"),
    body: body.exactOptional(),
  }).exactOptional(),
  read: path("account_id", "endpoint").exactOptional(),
  readCompany: path("account_id", "endpoint").exactOptional(),
  /** Endpoints to read by the date ranges that their events name, each range as one document. */
  readRange: rangePaths.exactOptional(),
  readCompanyRange: rangePaths.exactOptional(),
  account: path("account_id").exactOptional(),
  companyAccount: path("account_id").exactOptional(),
  user: path("user_id").exactOptional(),
  users: path().exactOptional(),
  userAccounts: path("user_id").exactOptional(),
  refresh: path().exactOptional(),
  webhooks: section({
    users: path().exactOptional(),
    accounts: path().exactOptional(),
    endpoints: path().exactOptional(),
    multiEndpoints: path().exactOptional(),
    connectEvents: path().exactOptional(),
  }).exactOptional(),
  companyWebhooks: path().exactOptional(),
  companyEndpointWebhooks: path().exactOptional(),
}).prefault({});

const versions = section({
  api: version.exactOptional(),
  refresh: choice(["v0.5", "v0.4", "v0.3"]).exactOptional(),
  webhooks: version.exactOptional(),
  company: version.exactOptional(),
}).prefault({});

/** Default versions in the paths, for each version of the interface. */
const versionsOf = {
  "0.4": { api: "v0.4", refresh: "v0.4", webhooks: "v0.3", company: "v0.5" },
  "0.5": { api: "v0.5", refresh: "v0.5", webhooks: "v0.5", company: "v0.5" },
} as const;

type GivenPaths = z.output<typeof paths>;
type Versions = Required<z.output<typeof versions>>;

/** Default paths, as specified or publicly documented. Others, such as starting a fetch, have no default. */
function resolvePaths(given: GivenPaths, { api, refresh, webhooks, company }: Versions, isNewer: boolean) {
  const hooks = `/api/${webhooks}/webhooks`;
  const companyHooks = isNewer ? `/company/${company}/webhooks` : `/api/company/${company}/webhooks`;
  const companyAccounts = `${isNewer ? `/company/${company}` : `/api/${api}`}/company-accounts/{account_id}`;
  return {
    read: `/api/${api}/accounts/{account_id}/{endpoint}`,
    readCompany: `${companyAccounts}/{endpoint}`,
    account: `/api/${api}/accounts/{account_id}`,
    companyAccount: companyAccounts,
    users: `/api/${api}/users`,
    refresh: `/api/${refresh}/token/refresh`,
    companyWebhooks: `${companyHooks}/accounts`,
    ...(isNewer && { companyEndpointWebhooks: `${companyHooks}/endpoints` }),
    ...given,
    webhooks: {
      users: `${hooks}/users`,
      accounts: `${hooks}/accounts`,
      endpoints: `${hooks}/endpoints`,
      ...(isNewer && { multiEndpoints: `${hooks}/multi-endpoints` }),
      ...given.webhooks,
    },
  };
}

/** Location of a value in a response. */
export const place = text(/^[^.]+(\.[^.]+)*$/, 'write names joined by dots, such as "meta.next"');
const parameter = text(/^[A-Za-z0-9_.[\]-]+$/, "write a query parameter's name");

/** How to read lists in pages; see `domain/fetch/paging.ts`. */
const paging = section({
  by: choice(pagingStyles).default("cursor"),
  items: place.default("data"),
  next: place.default("next"),
  parameter: parameter.exactOptional(),
  pageSize: section({
    parameter: parameter.default("limit"),
    items: wholeNumber(1, 100_000),
  }).exactOptional(),
  maxPages: wholeNumber(1, 100_000).default(1_000),
})
  .transform((given) => ({ parameter: given.by === "page" ? "page" : "cursor", ...given }))
  .prefault({});

/** The income-data service: its environment, its addresses, and limits of calls. */
export const providerSchema = section({
  environment: choice(["sandbox", "production"]).default("sandbox"),
  baseUrls: section({
    sandbox: baseUrl.default("https://sandbox.income-data.example"),
    production: baseUrl.default("https://income-data.example"),
  }).prefault({}),
  /** Selects the defaults of versions and paths, and the form of a registration. */
  interface: choice(["0.4", "0.5"]).default("0.4"),
  versions,
  paths,
  requestsPerMinute: wholeNumber(leastRequestsPerMinute, 1_000_000).default(1_000),
  /** When calls stop, and how the provider is probed while it is down. */
  breaker: section({
    failures: wholeNumber(1, 1_000).default(5),
    baseSeconds: scalableDuration(1, 3_600).default(10),
    maxSeconds: scalableDuration(1, 3_600).default(300),
  })
    .refine(({ baseSeconds, maxSeconds }) => baseSeconds <= maxSeconds, {
      path: ["maxSeconds"],
      error: "is below breaker.baseSeconds; raise it, or lower breaker.baseSeconds",
    })
    .prefault({}),
  timeouts: section({
    connectSeconds: fixedDuration(1, 60).default(5),
    /** From the request to the response headers. */
    headersSeconds: fixedDuration(1, 300).default(20),
    /** Between two chunks of the response body. */
    bodySeconds: fixedDuration(1, 300).default(20),
  }).prefault({}),
  maxResponseBytes: wholeNumber(1_024, 104_857_600).default(20_971_520),
  /** Limit of all pages of a document together. */
  maxDataBytes: wholeNumber(1_024, 1_073_741_824).default(104_857_600),
  paging,
  /** Where a response with status 200 reports an error, if anywhere. */
  errorPath: place.exactOptional(),
  errorMeans: choice(errorMeanings).default("failed"),
  allowPrivateAddresses: flag().default(false),
})
  .transform((provider) => {
    const versions = { ...versionsOf[provider.interface], ...provider.versions };
    const paths = resolvePaths(provider.paths, versions, provider.interface === "0.5");
    return { ...provider, versions, paths };
  })
  .prefault({});
