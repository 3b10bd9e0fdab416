import { randomUUID } from "node:crypto";
import { subjectKindOf, type WebhookEventType, type WebhookKind } from "../../../domain/event/events.ts";

/** Of whom a webhook is; what is absent is made up. */
export type SampleSubject = {
  readonly user?: string;
  readonly account?: string;
  readonly companyAccount?: string;
  readonly endpoint: string;
};

export type SampleWebhook = { readonly kind: WebhookKind; readonly body: object };

const verbs: Readonly<Record<string, string>> = {
  created: "create",
  updated: "update",
  connected: "connect",
  disconnected: "disconnect",
  deleted: "delete",
};

/** A webhook of a type as a provider sends it whose form is that of the default mapping. */
export function sampleWebhook(type: WebhookEventType, subject: SampleSubject, now: Date): SampleWebhook {
  const verb = verbs[type.split(".")[1] ?? ""] ?? "update";
  const user = subject.user ?? randomUUID();
  const created_at = now.toISOString().slice(0, 19).replace("T", " ");
  const connected = verb !== "disconnect" && verb !== "delete";
  switch (subjectKindOf(type)) {
    case "user":
      return { kind: "users", body: { action: `${verb}_user`, data: { id: user, created_at } } };
    case "account": {
      const account_id = subject.account ?? randomUUID();
      const body = { event: `${verb}_account`, account_id, user_id: user, connected, created_at };
      return { kind: "accounts", body };
    }
    case "company-account": {
      const company_account_id = subject.companyAccount ?? randomUUID();
      const body = { event: `${verb}_account`, company_account_id, user_id: user, connected, created_at };
      return { kind: "company-accounts", body };
    }
    case "endpoint":
      return {
        kind: "endpoints",
        body: {
          event: "update_endpoint",
          request_id: randomUUID(),
          account_id: subject.account ?? randomUUID(),
          user_id: user,
          endpoint: subject.endpoint,
          data_available: true,
        },
      };
  }
}
