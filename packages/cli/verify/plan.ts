import { randomBytes } from "node:crypto";
import { type EventType, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import type { Subject } from "../../../domain/event/subjects.ts";

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
const singlesPerKind = 4;
const endpoint = "profile";

/**
 * All ids of a run begin with its mark: a UUID of version 8 (RFC 9562: the rest is the application's own), without
 * its last two digits. Every mark begins alike, so that people and subscribers know what no provider sent.
 */
const everyMark = "5e57da7a";
const markForm = /^5e57da7a-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{10}$/;

/** A new run's mark: 80 random bits. */
export function newMark(): string {
  const digits = randomBytes(10).toString("hex");
  const part = (from: number, to: number) => digits.slice(from, to);
  return [everyMark, part(0, 4), `8${part(4, 7)}`, `a${part(7, 10)}`, part(10, 20)].join("-");
}

export function isMark(text: string): boolean {
  return markForm.test(text);
}

/**
 * The events of a run: a pure function of its mark, so that what it stored is known later. None of them makes the
 * stage call the provider: nothing is connected, in conflict or available.
 */
export function planEvents(mark: string): readonly PlannedEvent[] {
  const perKind = 2 + singlesPerKind;
  return webhookKinds.flatMap((kind, kindIndex) =>
    Array.from({ length: perKind }, (_, index): PlannedEvent => {
      const id = `${mark}${(kindIndex * perKind + index).toString(16).padStart(2, "0")}`;
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
    case "company-accounts": {
      const payload = { action: "create_company_account", company_account_id: id };
      return expect("company-account", id, "company-account.created", payload);
    }
  }
}

function expect(of: Subject["kind"], id: string, type: EventType, payload: object) {
  const owner: Subject = { kind: of, id };
  return { owner, type, subject: `${of}/${id}`, payload };
}
