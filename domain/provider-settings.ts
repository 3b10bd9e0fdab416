import type { Kind } from "./events.ts";
import { permanent } from "./failures.ts";
import { type Fields, fieldsOf, numberOf, optionalText, parseJson, present, textOf } from "./parse.ts";
import type { RetrySettings } from "./retry.ts";
import type { Subject } from "./subjects.ts";

/** How the provider is called. Paths are templates under its base address; see `fillPath`. */
export type ProviderSettings = {
  readonly paths: {
    readonly read: string;
    readonly readCompany: string;
    readonly account: string;
    readonly companyAccount: string;
    /** Unset: a weak deletion of a user stays unconfirmed until reconciliation. */
    readonly user?: string;
    readonly users: string;
    readonly refresh: string;
  };
  /** Unset: an account's endpoints are read straight away. */
  readonly start?: { readonly method: "POST" | "PUT"; readonly path: string; readonly body: string };
  readonly startEndpoints: readonly string[];
  readonly requestsPerMinute: number;
  readonly limits: {
    readonly connectTimeoutInSeconds: number;
    readonly headersTimeoutInSeconds: number;
    readonly bodyTimeoutInSeconds: number;
    readonly maxResponseBytes: number;
  };
};

/** @throws permanent failure naming the setting */
export function parseProviderSettings(value: unknown): ProviderSettings {
  const fields = fieldsOf(value, "provider");
  const paths = fieldsOf(fields.paths, "provider.paths");
  const limits = fieldsOf(fields.limits, "provider.limits");
  const { startEndpoints } = fields;
  if (!Array.isArray(startEndpoints)) throw permanent("provider.startEndpoints: expected a list");
  return present<ProviderSettings>({
    paths: present<ProviderSettings["paths"]>({
      read: textOf(paths, "read"),
      readCompany: textOf(paths, "readCompany"),
      account: textOf(paths, "account"),
      companyAccount: textOf(paths, "companyAccount"),
      user: optionalText(paths, "user"),
      users: textOf(paths, "users"),
      refresh: textOf(paths, "refresh"),
    }),
    start: fields.start === undefined ? undefined : parseStart(fieldsOf(fields.start, "provider.start")),
    startEndpoints: startEndpoints.map(String),
    requestsPerMinute: numberOf(fields, "requestsPerMinute"),
    limits: {
      connectTimeoutInSeconds: numberOf(limits, "connectTimeoutInSeconds"),
      headersTimeoutInSeconds: numberOf(limits, "headersTimeoutInSeconds"),
      bodyTimeoutInSeconds: numberOf(limits, "bodyTimeoutInSeconds"),
      maxResponseBytes: numberOf(limits, "maxResponseBytes"),
    },
  });
}

function parseStart(fields: Fields): NonNullable<ProviderSettings["start"]> {
  const { method } = fields;
  if (method !== "POST" && method !== "PUT") throw permanent("provider.start.method: expected POST or PUT");
  return { method, path: textOf(fields, "path"), body: textOf(fields, "body") };
}

/** @throws permanent failure naming the setting */
export function parseRetrySettings(value: unknown): RetrySettings {
  const fields = fieldsOf(value, "retry");
  return {
    baseInSeconds: numberOf(fields, "baseInSeconds"),
    maxInSeconds: numberOf(fields, "maxInSeconds"),
    maxAttempts: numberOf(fields, "maxAttempts"),
  };
}

/** Fills `{user_id}`, `{account_id}` and `{endpoint}` into a path; what is filled in is percent-encoded. */
export function fillPath(template: string, subject: Subject, endpoint = ""): string {
  const id = encodeURIComponent(subject.id);
  return template
    .replaceAll("{user_id}", id)
    .replaceAll("{account_id}", id)
    .replaceAll("{endpoint}", encodeURIComponent(endpoint));
}

/** Fills `{endpoints}`, a JSON list, and `{account_id}` into the body of a start. */
export function fillBody(template: string, subject: Subject, endpoints: readonly string[]): string {
  const body = template
    .replaceAll('"{endpoints}"', JSON.stringify(endpoints))
    .replaceAll("{account_id}", JSON.stringify(subject.id).slice(1, -1));
  parseJson(body, "provider.start.body, filled in,");
  return body;
}

/** The provider's path of each kind's webhook. @throws permanent failure naming the setting */
export function parseWebhookPaths(provider: unknown): Readonly<Record<Kind, string>> {
  const paths = fieldsOf(fieldsOf(provider, "provider").paths, "provider.paths");
  const webhooks = fieldsOf(paths.webhooks, "provider.paths.webhooks");
  return {
    users: textOf(webhooks, "users"),
    accounts: textOf(webhooks, "accounts"),
    endpoints: textOf(webhooks, "endpoints"),
    "company-accounts": textOf(webhooks, "company-accounts"),
  };
}
