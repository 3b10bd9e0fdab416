import { z } from "zod";
import { isPrivateHost } from "../../domain/core/private-addresses.ts";
import { errorMeanings } from "../../domain/fetch/answer.ts";
import { leastRequestsPerMinute } from "../../domain/fetch/pacing.ts";
import { pagingStyles } from "../../domain/fetch/paging-settings.ts";
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

/** Hosts under `.example` can never exist (RFC 2606): they stand where a real address is still to be set. */
export function isPlaceholder(baseUrl: string): boolean {
  return new URL(baseUrl).hostname.endsWith(".example");
}

/** Whether a base address names this machine or a private network. */
export function isPrivate(baseUrl: string): boolean {
  return isPrivateHost(new URL(baseUrl).hostname);
}

/**
 * Base addresses are https, since each call carries the token; plain http reaches this machine only. The same
 * pattern guards the deploy-time parameter, so it is kept to what CloudFormation's AllowedPattern understands.
 */
export const baseUrlPattern =
  "^(https://([a-z0-9.-]+|\\[[0-9a-f:.]+\\])|http://(127\\.0\\.0\\.1|localhost))(:[0-9]+)?(/[A-Za-z0-9._-]+)*$";

/**
 * The same without private addresses, for the deploy-time parameter: a number may be private, and which are can't be said in
 * such a pattern. What a name resolves to is seen when it is called.
 */
export const publicBaseUrlPattern = "^https://([a-z0-9-]+\\.)+[a-z][a-z0-9-]*(:[0-9]+)?(/[A-Za-z0-9._-]+)*$";

/** For people: one address has one form, so that two stages with the same provider environment are noticed. */
export const baseUrlForm =
  "an address as https://host, its host in lower case, without query or a slash at its end";

/** A host has 253 characters at most; the environment of each function that calls it has room for few more. */
export const longestBaseUrl = 300;

const baseUrl = text(new RegExp(baseUrlPattern), `write ${baseUrlForm}`)
  .max(longestBaseUrl, { error: remedyOf(`shorten it to ${longestBaseUrl} characters`) })
  .refine((value) => URL.canParse(value), { error: remedyOf(`write ${baseUrlForm}`) });

const version = text(/^v\d+(\.\d+)?$/, 'write a version segment such as "v0.4"');

/**
 * A path template with exactly these placeholders: without its account a path would read one account's data
 * for all of them, and one that nothing fills would reach the provider as it stands.
 */
function path(...placeholders: readonly string[]) {
  return pathWith(placeholders);
}

/** A path template that must have some placeholders, and may have others. */
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

/** Any JSON; a text that is just `"{endpoints}"` becomes the list of endpoints to start. */
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
  /** Endpoints that are read by the ranges of dates that their events name, each range as a document. */
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

/** The versions in the paths of each version of the interface. */
const versionsOf = {
  "0.4": { api: "v0.4", refresh: "v0.4", webhooks: "v0.3", company: "v0.5" },
  "0.5": { api: "v0.5", refresh: "v0.5", webhooks: "v0.5", company: "v0.5" },
} as const;

type GivenPaths = z.output<typeof paths>;
type Versions = Required<z.output<typeof versions>>;

/** Paths as specified or publicly documented. Others, such as starting a fetch, have none: left unset. */
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

/** Where something stands in an answer. */
export const place = text(/^[^.]+(\.[^.]+)*$/, 'write names joined by dots, such as "meta.next"');
const parameter = text(/^[A-Za-z0-9_.[\]-]+$/, "write a query parameter's name");

/** How lists come in pages; see `domain/fetch/paging-settings.ts`. */
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

/** The income-data service: which environment, where it answers, and how it may be called. */
export const providerSchema = section({
  environment: choice(["sandbox", "production"]).default("sandbox"),
  baseUrls: section({
    sandbox: baseUrl.default("https://sandbox.income-data.example"),
    production: baseUrl.default("https://income-data.example"),
  }).prefault({}),
  /** Chooses the defaults of versions and paths, and what the provider expects of a registration. */
  interface: choice(["0.4", "0.5"]).default("0.4"),
  versions,
  paths,
  requestsPerMinute: wholeNumber(leastRequestsPerMinute, 1_000_000).default(1_000),
  /** When calls stop and how the provider is tried while it is down. */
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
    /** From the request to the answer's headers. */
    headersSeconds: fixedDuration(1, 300).default(20),
    /** Between two parts of the answer's body. */
    bodySeconds: fixedDuration(1, 300).default(20),
  }).prefault({}),
  maxResponseBytes: wholeNumber(1_024, 104_857_600).default(20_971_520),
  /** Of all pages of a document together. */
  maxDataBytes: wholeNumber(1_024, 1_073_741_824).default(104_857_600),
  paging,
  /** Where an answer of status 200 has its error, if any. */
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
