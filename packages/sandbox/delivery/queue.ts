import { z } from "zod";
import type { Store } from "../store.ts";
import { allWebhookKinds, type WebhookKind } from "../webhooks.ts";

/** `unregistered`: no webhook was registered; `dropped`: not sent, on request. */
export const deliveryStatuses = ["pending", "delivered", "given-up", "unregistered", "dropped"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const timestamp = z.number().transform((milliseconds) => new Date(milliseconds));
const queued = z.object({
  id: z.number().transform(String),
  kind: z.enum(allWebhookKinds),
  /** Previous attempts. */
  attempts: z.number(),
  createdAt: timestamp,
});

const deliveryRow = queued
  .extend({
    status: z.enum(deliveryStatuses),
    /** Time of the next attempt while pending. */
    nextAt: orAbsent(timestamp),
    finishedAt: orAbsent(timestamp),
    lastStatus: orAbsent(z.number()),
    /** Error of the last attempt if it had no answer. */
    lastError: orAbsent(z.string()),
  })
  .readonly();
/** An event to deliver to the operator. Times are those of the sandbox's clock. */
export type Delivery = z.output<typeof deliveryRow>;

const claimedRow = queued
  .extend({
    body: z.instanceof(Uint8Array).transform((bytes) => Buffer.from(bytes)),
    /** Added to the webhook's headers, replacing those of the same name. */
    headers: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(z.record(z.string(), z.string())),
    maxAttempts: orAbsent(z.number()),
  })
  .readonly();
export type Claimed = z.output<typeof claimedRow>;

function orAbsent<Output>(column: z.ZodType<Output>) {
  return column.nullable().transform((value) => value ?? undefined);
}

export type NewDelivery = {
  readonly kind: WebhookKind;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts?: number;
  /** Earliest time of the first attempt; default: now. */
  readonly notBefore?: Date;
};

export type DeliveryQuery = {
  readonly status?: DeliveryStatus;
  readonly kind?: WebhookKind;
  readonly after?: string;
  readonly limit?: number;
};

export type AttemptResult = { readonly status?: number; readonly error?: string };

const schema = `
  CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    headers TEXT NOT NULL,
    status TEXT NOT NULL,
    claimed INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER,
    created_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    finished_at INTEGER,
    last_status INTEGER,
    last_error TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS due ON deliveries (status, claimed, next_at);
  UPDATE deliveries SET claimed = 0 WHERE claimed = 1;
`;

/**
 * Deliveries in the store; with a file, they survive a restart. Attempts interrupted by a stop are due again:
 * possibly delivered twice, never lost.
 */
export function openDeliveryQueue({ database }: Store) {
  database.exec(schema);
  const insert = database.prepare(
    `INSERT INTO deliveries (kind, body, headers, status, max_attempts, created_at, next_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const claim = database.prepare(
    `UPDATE deliveries SET claimed = 1 WHERE id IN (
       SELECT id FROM deliveries WHERE status = 'pending' AND claimed = 0 AND next_at <= ?
       ORDER BY next_at LIMIT ?
     ) RETURNING id, kind, body, headers, attempts, max_attempts AS maxAttempts, created_at AS createdAt`,
  );
  const retry = database.prepare(
    `UPDATE deliveries SET claimed = 0, attempts = attempts + 1, last_status = ?, last_error = ?, next_at = ?
     WHERE id = ?`,
  );
  const finish = database.prepare(
    `UPDATE deliveries SET claimed = 0, attempts = attempts + 1, last_status = ?, last_error = ?, status = ?,
     finished_at = ? WHERE id = ?`,
  );
  const nextDue = database.prepare(
    "SELECT MIN(next_at) AS at FROM deliveries WHERE status = 'pending' AND claimed = 0",
  );
  const again = database.prepare(
    `UPDATE deliveries SET status = 'pending', claimed = 0, attempts = 0, created_at = ?, next_at = ?,
     finished_at = NULL, last_status = NULL, last_error = NULL WHERE id = ? AND claimed = 0`,
  );
  const list = database.prepare(
    `SELECT id, kind, status, attempts, created_at AS createdAt, finished_at AS finishedAt,
       CASE status WHEN 'pending' THEN next_at END AS nextAt, last_status AS lastStatus, last_error AS lastError
     FROM deliveries WHERE id > ? AND (? IS NULL OR status = ?) AND (? IS NULL OR kind = ?) ORDER BY id LIMIT ?`,
  );
  return {
    add: (delivery: NewDelivery, now: Date, status: "pending" | "unregistered" | "dropped"): string => {
      const { kind, body, headers, maxAttempts, notBefore } = delivery;
      const times = [now.getTime(), (notBefore ?? now).getTime()];
      const result = insert.run(kind, body, JSON.stringify(headers), status, maxAttempts ?? null, ...times);
      return String(result.lastInsertRowid);
    },
    /**
     * Queues a delivery again as if it were new.
     * @returns whether the id exists
     */
    again: (id: string, now: Date): boolean =>
      again.run(now.getTime(), now.getTime(), Number(id)).changes === 1,
    /** Claims up to `limit` due deliveries until the caller retries or finishes them. */
    claim: (limit: number, now: Date): readonly Claimed[] =>
      claim.all(now.getTime(), limit).map((row) => claimedRow.parse(row)),
    retry: (id: string, { status, error }: AttemptResult, at: Date): void => {
      retry.run(status ?? null, error ?? null, at.getTime(), Number(id));
    },
    finish: (
      id: string,
      outcome: "delivered" | "given-up",
      { status, error }: AttemptResult,
      now: Date,
    ): void => {
      finish.run(status ?? null, error ?? null, outcome, now.getTime(), Number(id));
    },
    nextDue: () => orAbsent(timestamp).parse(nextDue.get()?.at),
    /** Deliveries by id. */
    list: ({ status, kind, after = "0", limit = -1 }: DeliveryQuery = {}): readonly Delivery[] => {
      const wanted = [status ?? null, status ?? null, kind ?? null, kind ?? null];
      return list.all(Number(after), ...wanted, limit).map((row) => deliveryRow.parse(row));
    },
  };
}
