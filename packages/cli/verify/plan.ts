import { randomBytes } from "node:crypto";
import { identify } from "../../../domain/event/envelope.ts";
import { type EventType, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";

/** A sent event, and how often it was answered with 202. */
export type SentEvent = { readonly event: PlannedEvent; readonly accepted: number };

/** An event that a run sends, and its expected results. */
export type PlannedEvent = {
  readonly kind: WebhookKind;
  readonly body: string;
  readonly times: number;
  readonly isLarge: boolean;
  /** The subject whose partition stores it. */
  readonly owner: Subject;
  readonly type: EventType;
  readonly subject: string;
};

const duplicates = 3;
/** Too large for an SQS message or a table item, so that the body is stored in the bucket. */
const largeBytes = 400 * 1024;
const perKind = 6;
const endpoint = "profile";

/**
 * All ids of a run begin with its mark: a UUID of version 8 (RFC 9562: the other bits are
 * application-specific), without its last two digits. All marks share a prefix, so that people and
 * subscribers recognize synthetic events.
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

/** Payloads in the form of the default mapping. */
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
 * The events of a run. They are a pure function of its mark, so that its items can be found later. None makes
 * the stage call the provider, because nothing is connected, in conflict or available.
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

/** A body that names no event and becomes a dead letter. It contains nothing secret, because it is stored. */
export function unmappableBody(mark: string): string {
  return JSON.stringify({ smoke: mark });
}

/** The key of a large body in the overflow bucket. */
export function objectKeyOf({ kind, body }: PlannedEvent): string {
  return `bodies/${kind}/${identify(kind, Buffer.from(body))}`;
}

export type Check = { readonly name: string; readonly passed: boolean; readonly seen: string };

/** A check of several things: how many passed, then the problems. */
export function checkEach(name: string, count: number, problems: readonly string[]): Check {
  const seen = [`${count - problems.length} of ${count}`, ...problems].join("; ");
  return { name, passed: problems.length === 0, seen };
}

/** Runs checks; an exception counts as a failed check. */
export async function attempt(
  name: string,
  work: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await work();
  } catch (error) {
    return [{ name, passed: false, seen: String(error) }];
  }
}
