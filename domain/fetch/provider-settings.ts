import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, isFields, numberOf, optionalText, present, textOf } from "../core/parse.ts";
import type { Subject } from "../event/subjects.ts";
import { type ErrorPlace, errorMeanings } from "./answer.ts";
import { parseBreakerSettings } from "./call-limits.ts";
import type { DataName, DateRange } from "./document.ts";
import { parsePagingSettings } from "./paging.ts";

/** How to call the provider. Paths are templates relative to its base URL; see `fillPath`. */
export type ProviderSettings = ReturnType<typeof parseProviderSettings>;

/** Maximum duration of a call, even if the answer arrives slowly. */
export function longestCallInSeconds({ timeouts }: Pick<ProviderSettings, "timeouts">): number {
  return timeouts.connectSeconds + timeouts.headersSeconds + timeouts.bodySeconds;
}

/** @throws permanent failure naming the setting */
export function parseProviderSettings(value: unknown) {
  const fields = fieldsOf(value, "provider");
  const timeouts = fieldsOf(fields.timeouts, "provider.timeouts");
  return present({
    paths: parsePaths(fields.paths),
    requestsPerMinute: numberOf(fields, "requestsPerMinute"),
    breaker: parseBreakerSettings(fields.breaker),
    timeouts: {
      connectSeconds: numberOf(timeouts, "connectSeconds"),
      headersSeconds: numberOf(timeouts, "headersSeconds"),
      bodySeconds: numberOf(timeouts, "bodySeconds"),
    },
    maxResponseBytes: numberOf(fields, "maxResponseBytes"),
    /** Limit for all pages of a document together. */
    maxDataBytes: numberOf(fields, "maxDataBytes"),
    paging: parsePagingSettings(fields.paging),
    /** Unset: answers with status 200 are not searched for an error. */
    error: parseErrorPlace(fields),
    /** Whether the provider may have a loopback or private address. A missing setting must not allow it. */
    allowPrivateAddresses: fields.allowPrivateAddresses === true,
  });
}

function parsePaths(value: unknown) {
  const paths = fieldsOf(value, "provider.paths");
  return present({
    /** Unset: an account's endpoints are read immediately. `body` is any JSON; see `fillBody`. */
    start: paths.start === undefined ? undefined : parseStart(paths.start),
    read: textOf(paths, "read"),
    readCompany: textOf(paths, "readCompany"),
    /** Paths of endpoints that are read by date range, one document per range. Others are read whole. */
    readRange: parseRangePaths(paths, "readRange"),
    readCompanyRange: parseRangePaths(paths, "readCompanyRange"),
    account: textOf(paths, "account"),
    companyAccount: textOf(paths, "companyAccount"),
    /** Unset: an unordered deletion of a user stays unconfirmed. */
    user: optionalText(paths, "user"),
    users: textOf(paths, "users"),
    /** Unset: users are compared with the provider's list, but their accounts are not. */
    userAccounts: optionalText(paths, "userAccounts"),
    refresh: textOf(paths, "refresh"),
  });
}

function parseErrorPlace(fields: Fields): ErrorPlace | undefined {
  const path = optionalText(fields, "errorPath");
  if (path === undefined) return undefined;
  const means = errorMeanings.find((meaning) => meaning === fields.errorMeans);
  if (means === undefined) throw permanent(`provider.errorMeans: expected ${errorMeanings.join(", ")}`);
  return { path, means };
}

function parseStart(value: unknown) {
  const fields = fieldsOf(value, "provider.paths.start");
  const { method, body } = fields;
  if (method !== "GET" && method !== "POST" && method !== "PUT") {
    throw permanent("provider.paths.start.method: expected GET, POST or PUT");
  }
  return present({ method, path: textOf(fields, "path"), body });
}

function parseRangePaths(paths: Fields, name: string): Readonly<Record<string, string>> | undefined {
  if (paths[name] === undefined) return undefined;
  const given = fieldsOf(paths[name], `provider.paths.${name}`);
  return Object.fromEntries(Object.keys(given).map((endpoint) => [endpoint, textOf(given, endpoint)]));
}

/** Whether the settings allow this document. An endpoint is read whole or by date range, never both. */
export function isReadAs(
  { paths }: Pick<ProviderSettings, "paths">,
  subject: Subject,
  { endpoint, range }: DataName,
): boolean {
  return (rangePathOf(paths, subject, endpoint) === undefined) === (range === undefined);
}

function rangePathOf(
  { readRange, readCompanyRange }: ProviderSettings["paths"],
  { kind }: Subject,
  endpoint: string,
): string | undefined {
  const templates = (kind === "company-account" ? readCompanyRange : readRange) ?? {};
  return Object.hasOwn(templates, endpoint) ? templates[endpoint] : undefined;
}

/**
 * The path that reads a subject's data.
 * @throws permanent failure if the endpoint is read by range and none is given, or is read whole and one is
 * given: overlapping documents would count the same income twice
 */
export function readPath(
  { paths }: Pick<ProviderSettings, "paths">,
  subject: Subject,
  { endpoint, range }: DataName,
): string {
  const rangeTemplate = rangePathOf(paths, subject, endpoint);
  if (rangeTemplate !== undefined) {
    if (range === undefined)
      throw permanent(`${endpoint} is read by ranges of dates, and the event names none`);
    return fillPath(rangeTemplate, subject, endpoint, range);
  }
  if (range !== undefined) throw permanent(`${endpoint} is read whole; have it fetched without dates`);
  return fillPath(subject.kind === "company-account" ? paths.readCompany : paths.read, subject, endpoint);
}

/**
 * Fills `{user_id}`, `{account_id}`, `{endpoint}`, `{date_start}` and `{date_end}` in a path,
 * percent-encoded.
 * @throws permanent failure if an id or endpoint would change the path
 */
export function fillPath(template: string, subject: Subject, endpoint = "", range?: DateRange): string {
  const id = encodePart(subject.id, `${subject.kind}'s id`);
  return template
    .replaceAll("{user_id}", id)
    .replaceAll("{account_id}", id)
    .replaceAll("{endpoint}", encodePart(endpoint, "endpoint"))
    .replaceAll("{date_start}", encodeURIComponent(range?.start ?? ""))
    .replaceAll("{date_end}", encodeURIComponent(range?.end ?? ""));
}

// Servers and clients resolve `.` and `..` even if they are percent-encoded.
function encodePart(part: string, what: string): string {
  if (part === "." || part === "..") throw permanent(`${what}: can't be part of a path`);
  return encodeURIComponent(part);
}

/**
 * Fills a start's body: the string `"{endpoints}"` becomes the list, `{account_id}` in a string the account's
 * id.
 */
export function fillBody(body: unknown, subject: Subject, endpoints: readonly string[]): unknown {
  if (body === "{endpoints}") return endpoints;
  if (typeof body === "string") return body.replaceAll("{account_id}", () => subject.id);
  if (Array.isArray(body)) return body.map((part: unknown) => fillBody(part, subject, endpoints));
  if (!isFields(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, part]) => [name, fillBody(part, subject, endpoints)]),
  );
}
