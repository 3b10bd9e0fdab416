import { permanent } from "../core/failures.ts";
import { type Fields, fieldsOf, isFields, optionalText, textOf } from "../core/parse.ts";
import type { WebhookKind } from "../event/events.ts";

/** The provider's webhooks, and the kind whose address and secret each uses. */
const kindOfWebhook = {
  users: "users",
  accounts: "accounts",
  endpoints: "endpoints",
  "company-accounts": "company-accounts",
  "multi-endpoints": "endpoints",
  "company-endpoints": "endpoints",
  "connect-events": "accounts",
} as const satisfies Record<string, WebhookKind>;

export type WebhookName = keyof typeof kindOfWebhook;

/** A webhook of the stage, and the provider's path that manages it. */
export type OwnWebhook = { readonly name: WebhookName; readonly path: string };

/** The kind whose address and secret a webhook is registered with. */
export function kindOf(name: WebhookName): WebhookKind {
  return kindOfWebhook[name];
}

/** The address that a webhook should have, and the one that the provider reports. */
export type Registration = { readonly kind: WebhookName; readonly deployed: string } & (
  | { readonly type: "here"; readonly differs?: readonly Difference[] }
  | { readonly type: "elsewhere"; readonly url: string }
  | { readonly type: "none" }
  /** The provider does not report it. */
  | { readonly type: "untold"; readonly reason: string }
);

/**
 * How a registration differs from this stage's. `unsigned`: this stage requires signatures, but the provider
 * does not sign; `signed`: the reverse.
 */
export const differences = ["unsigned", "header", "signed", "method", "enabled"] as const;
export type Difference = (typeof differences)[number];

/**
 * Compares a registered address with the deployed one.
 * @param url address that the provider reports
 * @param differs other differences
 */
export function registrationAt(
  kind: WebhookName,
  deployed: string,
  url: string,
  differs: readonly Difference[] = [],
): Registration {
  if (sameForm(url) !== sameForm(deployed)) return { kind, deployed, type: "elsewhere", url };
  return { kind, deployed, type: "here", ...(differs.length > 0 && { differs }) };
}

/** Providers may report an address in another form: with a slash at its end, the default port, a host in capitals. */
function sameForm(url: string): string {
  return (URL.parse(url)?.href ?? url).replace(/\/$/, "");
}

/**
 * Compares the webhook that a provider reports with what this stage registers. Providers report different
 * fields and never secrets, so a field that is not reported is not compared.
 */
export function differencesIn(
  told: Fields,
  { header, isSigned }: { readonly header: string; readonly isSigned: boolean },
): readonly Difference[] {
  const signed = signedIn(told);
  const headers = headersIn(told);
  const { method, enabled } = told;
  const found: Readonly<Record<Difference, boolean>> = {
    unsigned: isSigned && signed === false,
    signed: !isSigned && signed === true,
    header: headers !== undefined && !headers.includes(header.toLowerCase()),
    method: typeof method === "string" && method.toUpperCase() !== "POST",
    enabled: enabled === false,
  };
  return differences.filter((each) => found[each]);
}

/** Undefined if the provider does not report it. */
function signedIn(told: Fields): boolean | undefined {
  for (const name of ["signed", "has_secret", "secret_set", "secret"]) {
    if (!Object.hasOwn(told, name)) continue;
    const value = told[name];
    return value !== false && value !== null && value !== "";
  }
  return undefined;
}

function headersIn({ headers, header_names: names }: Fields): readonly string[] | undefined {
  const listed = names ?? headers;
  const found = Array.isArray(listed) ? listed : isFields(listed) ? Object.keys(listed) : undefined;
  return found?.map((name: unknown) => String(isFields(name) ? name.name : name).toLowerCase());
}

/** The address of a webhook. @param webhooksUrl deployed base URL, with one route for each kind */
export function webhookUrlOf(webhooksUrl: string, name: WebhookName): string {
  return `${webhooksUrl.replace(/\/$/, "")}/${kindOf(name)}`;
}

function isWebhookName(value: unknown): value is WebhookName {
  return typeof value === "string" && Object.hasOwn(kindOfWebhook, value);
}

/** Parses `{"webhooks": [...]}` from the registering function. @throws permanent failure naming the field */
export function parseRegistrations(value: unknown): readonly Registration[] {
  const { webhooks } = fieldsOf(value, "the list of webhooks");
  if (!Array.isArray(webhooks)) throw permanent("webhooks: expected a list");
  return webhooks.map((entry: unknown) => {
    const fields = fieldsOf(entry, "webhooks");
    const { kind } = fields;
    if (!isWebhookName(kind)) throw permanent("webhooks: a kind that this release does not know");
    const common = { kind, deployed: textOf(fields, "deployed") };
    const type = textOf(fields, "type");
    switch (type) {
      case "here": {
        const told: readonly unknown[] = Array.isArray(fields.differs) ? fields.differs : [];
        const differs = differences.filter((each) => told.includes(each));
        return { ...common, type, ...(differs.length > 0 && { differs }) };
      }
      case "none":
        return { ...common, type };
      case "elsewhere":
        return { ...common, type, url: textOf(fields, "url") };
      case "untold":
        return { ...common, type, reason: textOf(fields, "reason") };
    }
    throw permanent("webhooks: a state that this release does not know");
  });
}

/** Webhooks that are registered with the provider. @throws permanent failure naming the setting */
export function parseOwnWebhooks(provider: unknown): readonly OwnWebhook[] {
  const paths = fieldsOf(fieldsOf(provider, "provider").paths, "provider.paths");
  const webhooks = fieldsOf(paths.webhooks, "provider.paths.webhooks");
  const optional = [
    { name: "multi-endpoints", path: optionalText(webhooks, "multiEndpoints") },
    { name: "company-endpoints", path: optionalText(paths, "companyEndpointWebhooks") },
    { name: "connect-events", path: optionalText(webhooks, "connectEvents") },
  ] as const;
  return [
    { name: "users", path: textOf(webhooks, "users") },
    { name: "accounts", path: textOf(webhooks, "accounts") },
    { name: "endpoints", path: textOf(webhooks, "endpoints") },
    { name: "company-accounts", path: textOf(paths, "companyWebhooks") },
    ...optional.flatMap(({ name, path }) => (path === undefined ? [] : [{ name, path }])),
  ];
}

/** Whether the provider uses version 0.5 of its API. */
export function parseIsNewer(provider: unknown): boolean {
  return fieldsOf(provider, "provider").interface === "0.5";
}
