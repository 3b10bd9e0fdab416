import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";
import type { WebhookKind } from "../event/events.ts";

/** The provider's webhooks: one of each kind, and those that go to the address of another kind, with its secret. */
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

/** A webhook of the stage, with the provider's path that defines it. */
export type OwnWebhook = { readonly name: WebhookName; readonly path: string };

/** Whose address and secret a webhook is registered with. */
export function kindOf(name: WebhookName): WebhookKind {
  return kindOfWebhook[name];
}

/** Where a webhook should go, and where the provider says that it goes. */
export type Registration = { readonly kind: WebhookName; readonly deployed: string } & (
  | { readonly is: "here" }
  | { readonly is: "elsewhere"; readonly url: string }
  | { readonly is: "none" }
  /** The provider does not tell. */
  | { readonly is: "untold"; readonly reason: string }
);

/** What is registered, evaluated by the address that is deployed. @param url as the provider says it */
export function registrationAt(kind: WebhookName, deployed: string, url: string): Registration {
  return url === deployed ? { kind, deployed, is: "here" } : { kind, deployed, is: "elsewhere", url };
}

/** Where a webhook is sent. @param webhooksUrl the deployed address below which each kind has its route */
export function webhookUrlOf(webhooksUrl: string, name: WebhookName): string {
  return `${webhooksUrl.replace(/\/$/, "")}/${kindOf(name)}`;
}

function isWebhookName(value: unknown): value is WebhookName {
  return typeof value === "string" && Object.hasOwn(kindOfWebhook, value);
}

/** Reads `{"webhooks": [...]}`, as the registering function lists them. @throws permanent failure naming the field */
export function parseRegistrations(value: unknown): readonly Registration[] {
  const { webhooks } = fieldsOf(value, "the list of webhooks");
  if (!Array.isArray(webhooks)) throw permanent("webhooks: expected a list");
  return webhooks.map((entry: unknown) => {
    const fields = fieldsOf(entry, "webhooks");
    const { kind } = fields;
    if (!isWebhookName(kind)) throw permanent("webhooks: a kind that this release does not know");
    const known = { kind, deployed: textOf(fields, "deployed") };
    const is = textOf(fields, "is");
    switch (is) {
      case "here":
      case "none":
        return { ...known, is };
      case "elsewhere":
        return { ...known, is, url: textOf(fields, "url") };
      case "untold":
        return { ...known, is, reason: textOf(fields, "reason") };
    }
    throw permanent("webhooks: a state that this release does not know");
  });
}
