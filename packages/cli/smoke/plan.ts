import { type EventType, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { idOf } from "./mark.ts";

/** An event that a run sends, and what must come of it. */
export type PlannedEvent = {
  readonly kind: WebhookKind;
  readonly body: string;
  /** How often the same body is sent. */
  readonly times: number;
  readonly isLarge: boolean;
  /** In whose partition it is stored. */
  readonly owner: Subject;
  readonly type: EventType;
  /** The `subject` of its message. */
  readonly subject: string;
};

/** How often the one body of a kind that comes again is sent. */
const duplicates = 3;
/** Too large for a message of SQS or an item of the table as it is stored: it takes the way over the bucket. */
const largeBytes = 400 * 1024;
const singlesPerKind = 4;
const endpoint = "profile";

/** The most that one run may send: what it does to a stage must not depend on how badly the stage does. */
export const maxWebhooks = 100;

/**
 * The events of a run: a pure function of its mark, so that what it stored is known later. None of them makes the
 * stage call the provider: nothing is connected, in conflict or available.
 */
export function planEvents(mark: string): readonly PlannedEvent[] {
  const perKind = 2 + singlesPerKind;
  return webhookKinds.flatMap((kind, kindIndex) =>
    Array.from({ length: perKind }, (_, index): PlannedEvent => {
      const id = idOf(mark, kindIndex * perKind + index);
      const isLarge = index === 1;
      const { payload, ...expected } = eventOf(kind, id);
      const padding = isLarge ? { padding: "smoke".repeat(largeBytes / 5) } : {};
      const body = JSON.stringify({ ...payload, ...padding });
      return { kind, body, times: index === 0 ? duplicates : 1, isLarge, ...expected };
    }),
  );
}

/** A body that is no JSON: it can only become a dead letter. Nothing of it is secret, for it is kept. */
export function unreadableBody(mark: string): string {
  return `{"smoke": "${mark}`;
}

/** Where a large body is kept, in the bucket of overflows. */
export function objectKeyOf({ kind, body }: PlannedEvent): string {
  return `bodies/${kind}/${identify(kind, Buffer.from(body))}`;
}

/** Payloads as the default mapping takes them. */
function eventOf(kind: WebhookKind, id: string) {
  switch (kind) {
    case "users":
      return expect("user", id, "user.created", { action: "create_user", data: { id } });
    case "accounts":
      return expect("account", id, "account.created", { action: "create_account", account_id: id });
    case "endpoints": {
      const payload = { action: "update_endpoint", account_id: id, endpoint, data_available: false };
      return { ...expect("account", id, "endpoint.updated", payload), subject: `account/${id}/${endpoint}` };
    }
    case "company-accounts":
      return expect("company-account", id, "company-account.created", {
        action: "create_company_account",
        company_account_id: id,
      });
  }
}

function expect(of: Subject["kind"], id: string, type: EventType, payload: object) {
  const owner: Subject = { kind: of, id };
  return { owner, type, subject: `${of}/${id}`, payload };
}
