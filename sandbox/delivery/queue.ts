import { DatabaseSync } from "node:sqlite";
import { type WebhookKind, webhookKinds } from "../webhooks.ts";

export type DeliveryStatus = "pending" | "delivered" | "given-up" | "unregistered";

/** One event on its way to the operator. Times are the sandbox's clock's. */
export type Delivery = {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: Date;
  /** While pending: when it is tried (again). */
  readonly nextAt?: Date;
  /** When it was delivered or given up. */
  readonly finishedAt?: Date;
  /** The receiver's last answer. */
  readonly lastStatus?: number;
  /** Why the last attempt had no answer. */
  readonly lastError?: string;
};

/** What is needed to make one attempt. */
export type Claimed = {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly body: Buffer;
  /** Added to the webhook's own headers, or in their place. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts made before this one. */
  readonly attempts: number;
  readonly maxAttempts: number | undefined;
  readonly createdAt: Date;
};

export type NewDelivery = {
  readonly kind: WebhookKind;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts?: number;
};

export type AttemptResult = { readonly status?: number; readonly error?: string };

/** Every delivery, in SQLite: with a file it survives a restart. */
export type DeliveryQueue = {
  add(delivery: NewDelivery, now: Date, status: "pending" | "unregistered"): string;
  /** Takes up to `limit` deliveries that are due; they are the caller's until it retries or finishes them. */
  claim(limit: number, now: Date): readonly Claimed[];
  retry(id: string, result: AttemptResult, at: Date): void;
  finish(id: string, status: "delivered" | "given-up", result: AttemptResult, now: Date): void;
  nextDue(): Date | undefined;
  /** How many are pending, those under way included. */
  pending(): number;
  list(): readonly Delivery[];
  close(): void;
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

/** @param file a path, or `:memory:` for a queue that ends with the process */
export function openDeliveryQueue(file: string): DeliveryQueue {
  const database = new DatabaseSync(file);
  // What is lost with the machine's power is tried again, which "at least once" allows; a crash loses nothing.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
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
     finished_at = ?, body = x'' WHERE id = ?`,
  );
  const nextDue = database.prepare(
    "SELECT MIN(next_at) AS next_at FROM deliveries WHERE status = 'pending' AND claimed = 0",
  );
  const pending = database.prepare("SELECT COUNT(*) AS count FROM deliveries WHERE status = 'pending'");
  const list = database.prepare("SELECT * FROM deliveries ORDER BY id");
  return {
    add: ({ kind, body, headers, maxAttempts }, now, status) => {
      const time = now.getTime();
      const result = insert.run(kind, body, JSON.stringify(headers), status, maxAttempts ?? null, time, time);
      return String(result.lastInsertRowid);
    },
    claim: (limit, now) => claim.all(now.getTime(), limit).map(parseClaimed),
    retry: (id, { status, error }, at) => {
      retry.run(status ?? null, error ?? null, at.getTime(), Number(id));
    },
    finish: (id, outcome, { status, error }, now) => {
      finish.run(status ?? null, error ?? null, outcome, now.getTime(), Number(id));
    },
    nextDue: () => momentOf(nextDue.get()?.next_at),
    pending: () => Number(pending.get()?.count),
    list: () => list.all().map(parseDelivery),
    close: () => database.close(),
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
  const nextAt = status === "pending" ? momentOf(row.next_at) : undefined;
  const finishedAt = momentOf(row.finished_at);
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

function momentOf(value: unknown): Date | undefined {
  return typeof value === "number" ? new Date(value) : undefined;
}

function parseKind(value: unknown): WebhookKind {
  const kind = webhookKinds.find((known) => known === value);
  if (kind === undefined) throw new Error(`the delivery queue holds an unknown kind: ${String(value)}`);
  return kind;
}

function parseStatus(value: unknown): DeliveryStatus {
  switch (value) {
    case "pending":
    case "delivered":
    case "given-up":
    case "unregistered":
      return value;
    default:
      throw new Error(`the delivery queue holds an unknown status: ${String(value)}`);
  }
}

function parseHeaders(value: unknown): Record<string, string> {
  const headers: unknown = JSON.parse(String(value));
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)]));
}
