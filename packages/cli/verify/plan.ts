import { randomBytes } from "node:crypto";
import { identify } from "../../../domain/event/envelope.ts";
import { type EventType, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";

/** An event that was sent, and how often it was answered 202. */
export type SentEvent = { readonly event: PlannedEvent; readonly accepted: number };

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

const duplicates = 3;
/** Too large for a message of SQS or an item of the table as it is stored: its body is kept in the bucket. */
const largeBytes = 400 * 1024;
const perKind = 6;
const endpoint = "profile";

/**
 * All ids of a run begin with its mark: a UUID of version 8 (RFC 9562: the rest is the application's own), without
 * its last two digits. Every mark begins alike, so that people and subscribers know what no provider sent.
 */
const markForm = /^5e57da7a-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{10}$/;

/** A new run's mark: 80 random bits. */
export function newMark(): string {
  const digits = randomBytes(10).toString("hex");
  return digits.replace(/^(.{4})(.{3})(.{3})(.{10})$/, "5e57da7a-$1-8$2-a$3-$4");
}

export function isMark(text: string): boolean {
  return markForm.test(text);
}

type Payload = readonly [of: Subject["kind"], type: EventType, payload: (id: string) => object];

/** Payloads as the default mapping takes them. */
const payloads: Readonly<Record<WebhookKind, Payload>> = {
  users: ["user", "user.created", (id) => ({ action: "create_user", data: { id } })],
  accounts: ["account", "account.created", (id) => ({ action: "create_account", account_id: id })],
  endpoints: [
    "account",
    "endpoint.updated",
    (id) => ({ action: "update_endpoint", account_id: id, endpoint, data_available: false }),
  ],
  "company-accounts": [
    "company-account",
    "company-account.created",
    (id) => ({ action: "create_company_account", company_account_id: id }),
  ],
};

/**
 * The events of a run: a pure function of its mark, so that what it stored is known later. None of them makes the
 * stage call the provider: nothing is connected, in conflict or available.
 */
export function planEvents(mark: string): readonly PlannedEvent[] {
  return webhookKinds.flatMap((kind, kindIndex) =>
    Array.from({ length: perKind }, (_, index): PlannedEvent => {
      const id = `${mark}${(kindIndex * perKind + index).toString(16).padStart(2, "0")}`;
      const [of, type, payload] = payloads[kind];
      const isLarge = index === 1;
      const body = JSON.stringify({
        ...payload(id),
        ...(isLarge && { padding: "smoke".repeat(largeBytes / 5) }),
      });
      const subject = [of, id, ...(kind === "endpoints" ? [endpoint] : [])].join("/");
      return {
        kind,
        body,
        times: index === 0 ? duplicates : 1,
        isLarge,
        owner: { kind: of, id },
        type,
        subject,
      };
    }),
  );
}

/** A body that names no event: it can only become a dead letter. Nothing of it is secret, for it is kept. */
export function unmappableBody(mark: string): string {
  return JSON.stringify({ smoke: mark });
}

/** Where a large body is kept, in the bucket of overflows. */
export function objectKeyOf({ kind, body }: PlannedEvent): string {
  return `bodies/${kind}/${identify(kind, Buffer.from(body))}`;
}
