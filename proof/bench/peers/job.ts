import { createHash, timingSafeEqual } from "node:crypto";
import type { Payload } from "./payloads.ts";

/**
 * Names of items, ids and messages that all peers share, so that each ends with the same records and
 * messages. Parsing, deduplication, batching and logging are their own.
 */
export const secretHeader = "x-webhook-secret";
export const startEndpoints = ["income"];

export type Facts = {
  readonly type: string;
  readonly userId?: string;
  readonly accountId?: string;
  readonly endpoint?: string;
  readonly connected?: boolean;
};

/** Identifies a webhook as our implementation does: equal bodies are one event. */
export function identify(kind: string, body: string): string {
  return createHash("sha256").update(`${kind}\n`).update(body).digest("base64url");
}

const typeOf: Readonly<Record<string, string>> = {
  create_user: "user.created",
  create_account: "account.created",
  connect_account: "account.connected",
  update_endpoint: "endpoint.updated",
};

/** Renames the provider's fields. */
export function factsOf(payload: Payload): Facts {
  if ("action" in payload) return { type: typeOf[payload.action] ?? "", userId: payload.data.id };
  const ids = { type: typeOf[payload.event] ?? "", userId: payload.user_id, accountId: payload.account_id };
  return "endpoint" in payload
    ? { ...ids, endpoint: payload.endpoint }
    : { ...ids, connected: payload.connected };
}

export const eventKey = ({ userId, accountId }: Facts, id: string) => ({
  pk: userId === undefined ? `ACCOUNT#${accountId}` : `USER#${userId}`,
  sk: `EVENT#${id}`,
});
export const profileKey = ({ type, userId, accountId }: Facts) => ({
  pk: type.startsWith("user.") ? `USER#${userId}` : `ACCOUNT#${accountId}`,
  sk: "PROFILE",
});
/** An account's creation may be handled after its connection, and must not overwrite it. */
export const profileUpdate = ({ type }: Facts) =>
  `SET userId = :user, receivedAt = :at, connected = ${type.endsWith(".connected") ? ":connected" : "if_not_exists(connected, :connected)"}`;
const dataKey = (accountId: string, endpoint: string) => ({
  pk: `ACCOUNT#${accountId}`,
  sk: `DATA#${endpoint}`,
});

/** Fetched data as an item of the table. */
export const dataItem = (accountId: string, endpoint: string, content: string) => ({
  ...dataKey(accountId, endpoint),
  ...{ accountId, endpoint, content },
  digest: digestOf(content),
  fetchedAt: new Date().toISOString(),
});

/** Message to the subscriber about an event. */
export function messageOfEvent(facts: Facts, id: string, time: string): string {
  const { type, userId, accountId, endpoint, connected } = facts;
  const subject = type.startsWith("user.") ? `user/${userId}` : `account/${accountId}`;
  const data = { userId, accountId, endpoint, connected };
  return message({
    id,
    type,
    subject: endpoint === undefined ? subject : `${subject}/${endpoint}`,
    time,
    data,
  });
}

/** Message to the subscriber about fetched data. */
export function messageOfData(accountId: string, endpoint: string, digest: string, time: string): string {
  const subject = `account/${accountId}/${endpoint}`;
  const data = { accountId, endpoint, content: digest };
  return message({ id: `${subject}.1`, type: "data.updated", subject, time, data });
}

function message(fields: object): string {
  return JSON.stringify({ specversion: "1.0", source: "/bench", ...fields });
}

const digestOf = (content: string) => createHash("sha256").update(content).digest("base64url");

/** Compares in constant time. */
export function isSecret(given: string | undefined, expected: string): boolean {
  return (
    expected !== "" && timingSafeEqual(Buffer.from(digestOf(given ?? "")), Buffer.from(digestOf(expected)))
  );
}

export function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`environment variable ${name} is not set`);
  return value;
}

/** URL of the one subscriber's queue, from the variable that our stack sets. */
export function subscriberQueueUrl(): string {
  const [queue] = variable("SUBSCRIBER_QUEUES").split("/");
  const beside = variable("FETCH_QUEUE_URL");
  return `${beside.slice(0, beside.lastIndexOf("/") + 1)}${queue}`;
}
