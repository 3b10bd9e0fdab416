import { fieldsOf } from "../parse.ts";
import type { Store } from "../store.ts";
import { isWebhookKind, type WebhookKind } from "../webhooks.ts";

/** `unregistered`: no webhook was registered; `dropped`: not sent, on request. */
export const deliveryStatuses = ["pending", "delivered", "given-up", "unregistered", "dropped"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event to deliver to the operator. Times are those of the sandbox's clock. */
export type Delivery = {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: Date;
  /** Time of the next attempt while pending. */
  readonly nextAt?: Date;
  readonly finishedAt?: Date;
  readonly lastStatus?: number;
  /** Error of the last attempt if it had no answer. */
  readonly lastError?: string;
};

export type Claimed = {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly body: Buffer;
  /** Added to the webhook's headers, replacing those of the same name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Previous attempts. */
  readonly attempts: number;
  readonly maxAttempts: number | undefined;
  readonly createdAt: Date;
};

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

/** Deliveries in the store; with a file, they survive a restart. */
export type DeliveryQueue = {
  add(delivery: NewDelivery, now: Date, status: "pending" | "unregistered" | "dropped"): string;
  /**
   * Queues a delivery again as if it were new.
   * @returns whether the id exists
   */
  again(id: string, now: Date): boolean;
  /** Claims up to `limit` due deliveries until the caller retries or finishes them. */
  claim(limit: number, now: Date): readonly Claimed[];
  retry(id: string, result: AttemptResult, at: Date): void;
  finish(id: string, status: "delivered" | "given-up", result: AttemptResult, now: Date): void;
  nextDue(): Date | undefined;
  /** Number of pending deliveries, including those in progress. */
  pending(): number;
  /** Deliveries by id. */
  list(query?: DeliveryQuery): readonly Delivery[];
};

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

/** Attempts interrupted by a stop are due again: possibly delivered twice, never lost. */
export function openDeliveryQueue({ database }: Store): DeliveryQueue {
  database.exec(schema);
  const insert = database.prepare(
    `INSERT INTO deliveries (kind, body, headers, status, max_attempts, created_at, next_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const claim = database.prepare(
    `UPDATE deliveries SET claimed = 1 WHERE id IN (
       SELECT id FROM deliveries WHERE status = 'pending' AND claimed = 0 AND next_at <= ?
       ORDER BY next_at LIMIT ?
     ) RETURNING id, kind, body, headers, attempts, max_attempts, created_at`,
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
    "SELECT MIN(next_at) AS next_at FROM deliveries WHERE status = 'pending' AND claimed = 0",
  );
  const pending = database.prepare("SELECT COUNT(*) AS count FROM deliveries WHERE status = 'pending'");
  const again = database.prepare(
    `UPDATE deliveries SET status = 'pending', claimed = 0, attempts = 0, created_at = ?, next_at = ?,
     finished_at = NULL, last_status = NULL, last_error = NULL WHERE id = ? AND claimed = 0`,
  );
  const list = database.prepare(
    `SELECT id, kind, status, attempts, created_at, next_at, finished_at, last_status, last_error
     FROM deliveries WHERE id > ? AND (? IS NULL OR status = ?) AND (? IS NULL OR kind = ?) ORDER BY id LIMIT ?`,
  );
  return {
    add: ({ kind, body, headers, maxAttempts, notBefore }, now, status) => {
      const times = [now.getTime(), (notBefore ?? now).getTime()];
      const result = insert.run(kind, body, JSON.stringify(headers), status, maxAttempts ?? null, ...times);
      return String(result.lastInsertRowid);
    },
    again: (id, now) => again.run(now.getTime(), now.getTime(), Number(id)).changes === 1,
    claim: (limit, now) => claim.all(now.getTime(), limit).map(parseClaimed),
    retry: (id, { status, error }, at) => {
      retry.run(status ?? null, error ?? null, at.getTime(), Number(id));
    },
    finish: (id, outcome, { status, error }, now) => {
      finish.run(status ?? null, error ?? null, outcome, now.getTime(), Number(id));
    },
    nextDue: () => timestampOf(nextDue.get()?.next_at),
    pending: () => Number(pending.get()?.count),
    list: ({ status = null, kind = null, after = "0", limit = -1 } = {}) =>
      list.all(Number(after), status, status, kind, kind, limit).map(parseDelivery),
  };
}

type Row = Readonly<Record<string, unknown>>;

function parseClaimed(row: Row): Claimed {
  return {
    id: String(row.id),
    kind: parseKind(row.kind),
    body: row.body instanceof Uint8Array ? Buffer.from(row.body) : Buffer.alloc(0),
    headers: parseHeaders(row.headers),
    attempts: Number(row.attempts),
    maxAttempts: typeof row.max_attempts === "number" ? row.max_attempts : undefined,
    createdAt: new Date(Number(row.created_at)),
  };
}

function parseDelivery(row: Row): Delivery {
  const status = parseStatus(row.status);
  const nextAt = status === "pending" ? timestampOf(row.next_at) : undefined;
  const finishedAt = timestampOf(row.finished_at);
  return {
    id: String(row.id),
    kind: parseKind(row.kind),
    status,
    attempts: Number(row.attempts),
    createdAt: new Date(Number(row.created_at)),
    ...(nextAt === undefined ? {} : { nextAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(typeof row.last_status === "number" ? { lastStatus: row.last_status } : {}),
    ...(typeof row.last_error === "string" ? { lastError: row.last_error } : {}),
  };
}

function timestampOf(value: unknown): Date | undefined {
  return typeof value === "number" ? new Date(value) : undefined;
}

function parseKind(value: unknown): WebhookKind {
  if (isWebhookKind(value)) return value;
  throw new Error(`the delivery queue holds an unknown kind: ${String(value)}`);
}

function parseStatus(value: unknown): DeliveryStatus {
  const status = deliveryStatuses.find((known) => known === value);
  if (status === undefined) throw new Error(`the delivery queue holds an unknown status: ${String(value)}`);
  return status;
}

function parseHeaders(value: unknown): Record<string, string> {
  const headers = fieldsOf(JSON.parse(String(value)));
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)]));
}
