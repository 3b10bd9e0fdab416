import { permanent } from "../core/failures.ts";
import { fieldsOf, textOf } from "../core/parse.ts";
import { type WebhookKind, webhookKinds } from "../event/events.ts";

/** Where a kind's webhooks should go, and where the provider says that they go. */
export type Registration = { readonly kind: WebhookKind; readonly deployed: string } & (
  | { readonly is: "here" }
  | { readonly is: "elsewhere"; readonly url: string }
  | { readonly is: "none" }
  /** The provider does not tell. */
  | { readonly is: "untold"; readonly reason: string }
);

/** What is registered, evaluated by the address that is deployed. @param url as the provider says it */
export function registrationAt(kind: WebhookKind, deployed: string, url: string): Registration {
  return url === deployed ? { kind, deployed, is: "here" } : { kind, deployed, is: "elsewhere", url };
}

/**
 * Where the webhooks of a kind are sent. @param webhooksUrl the deployed address below which each kind has its route
 */
export function webhookUrlOf(webhooksUrl: string, kind: WebhookKind): string {
  return `${webhooksUrl.replace(/\/$/, "")}/${kind}`;
}

/** Reads `{"webhooks": [...]}`, as the registering function lists them. @throws permanent failure naming the field */
export function parseRegistrations(value: unknown): readonly Registration[] {
  const { webhooks } = fieldsOf(value, "the list of webhooks");
  if (!Array.isArray(webhooks)) throw permanent("webhooks: expected a list");
  return webhooks.map((entry: unknown) => {
    const fields = fieldsOf(entry, "webhooks");
    const kind = webhookKinds.find((each) => each === fields.kind);
    if (kind === undefined) throw permanent("webhooks: a kind that this release does not know");
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
