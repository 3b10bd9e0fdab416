import { createHash } from "node:crypto";
import { expect } from "vitest";
import { z } from "zod";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { findUnready } from "../chaos/audit/find-unready.ts";
import { findWrongAttributes } from "../chaos/audit/find-wrong-attributes.ts";
import type { MessageLine } from "../chaos/records.ts";
import { staleMillis } from "./functions.ts";
import { allAccountIds, endpoint, ownerOf } from "./provider.ts";
import type { Simulation } from "./simulation.ts";

const message = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string(),
  sequence: z.string(),
  data: z.looseObject({
    attributes: z.record(z.string(), z.string()).optional(),
    attributesSequence: z.coerce.number().optional(),
  }),
});

const data = z.object({ data: z.array(z.object({ version: z.number() })) });

const taskQueues = ["fetch", "checks", "deadlines"] as const;
/** In milliseconds: SQS says when an account was connected, and DynamoDB when its deadline has come. */
const clockGap = 1_000;
/** In milliseconds: a reconciliation's own clock may be an hour wrong. */
const clockError = 3_600_000;

/**
 * Checks what is true at any time.
 * @throws if a promise is broken
 */
export function expectAlways(simulation: Simulation): void {
  const { provider, table, reads } = simulation;
  const open = provider.webhooks.filter(
    ({ isAnswered, stored, rejected }) =>
      isAnswered && [...stored, ...rejected].some((id) => !table.eventIds.has(id)),
  );
  if (open.length > 0) {
    const waiting = new Set(waitingIds(simulation));
    const isDurable = (id: string) => waiting.has(id) || table.eventIds.has(id);
    for (const { id, stored, rejected } of open) {
      if (!waiting.has(id) && ![...stored, ...rejected].every(isDurable))
        throw new Error("not durable before 2xx");
    }
  }
  const letters = taskQueues.flatMap((name) => simulation.queue(name).deadLetters);
  if (letters.some(({ reason }) => reason === undefined)) throw new Error("a dead letter says no reason");
  if (reads.violation !== undefined) throw new Error(reads.violation);
}

/** Checks what is true when the simulation is idle. */
export function expectAtRest(simulation: Simulation): void {
  expectAlways(simulation);
  expectStoredOnce(simulation);
  expectTruth(simulation);
  expectData(simulation);
  expectHistory(simulation);
  for (const name of simulation.subscribers) {
    expectMessages(simulation, name);
    expectReadiness(simulation, name);
    expectAttributes(simulation, name);
  }
  expect(simulation.provider.isValid(simulation.secret.current.token), "the token").toBe(true);
}

function storedIds(simulation: Simulation): readonly string[] {
  return simulation.table.events.map(({ event }) => event.id);
}

function waitingIds(simulation: Simulation): readonly string[] {
  return (["users", "accounts", "endpoints"] as const).flatMap((kind) => {
    const { messages, deadLetters } = simulation.queue(kind);
    return [...messages, ...deadLetters].map(({ body }) => readEnvelope(body).id);
  });
}

function expectStoredOnce(simulation: Simulation): void {
  const { webhooks } = simulation.provider;
  const sound = new Set(webhooks.flatMap(({ stored }) => stored));
  expect(storedIds(simulation).toSorted(), "stored once").toEqual([...sound].toSorted());
  const nonsense = new Set(webhooks.flatMap(({ rejected }) => rejected));
  expect(new Set(waitingIds(simulation)), "dead letters").toEqual(nonsense);
  const deadLetters = simulation.queue("accounts").deadLetters;
  expect(deadLetters.every(({ reason }) => reason !== undefined)).toBe(true);
  for (const name of taskQueues) {
    const { messages, deadLetters: letters } = simulation.queue(name);
    expect([...messages, ...letters], "tasks that are left").toEqual([]);
  }
}

function expectTruth(simulation: Simulation): void {
  for (const id of allAccountIds) {
    const truth = simulation.provider.accounts.get(id);
    const state = simulation.table.loadState({ kind: "account", id });
    if (state === undefined) continue;
    expect(state.unconfirmed, "no question is open").toBe(false);
    expect(state.deleted, "deleted").toBe(truth?.deleted);
    if (truth?.deleted === false && truth.connected !== undefined) {
      expect(state.connected, "connected").toBe(truth.connected);
    }
    expect(simulation.table.accountsOf(ownerOf(id)), "links").toContain(id);
  }
}

function expectData(simulation: Simulation): void {
  for (const id of allAccountIds) {
    const account = simulation.provider.accounts.get(id);
    const known = simulation.table.loadDocument({ kind: "account", id }, { endpoint });
    if (account === undefined || account.deleted) continue;
    if (account.data === 0) continue;
    const content = Buffer.from(known?.storage.content ?? "");
    const digest = createHash("sha256").update(content).digest("hex");
    const versions = data.parse(JSON.parse(content.toString())).data.map(({ version }) => version);
    expect(new Set(versions), "data").toEqual(new Set([account.data]));
    expect(known?.document.digest, "the digest is that of the data").toBe(digest);
  }
}

/** Each version is one more than the previous, and a deletion is final. */
function expectHistory(simulation: Simulation): void {
  for (const change of simulation.table.stream) {
    if (change.type === "document") {
      expect(change.after.asOf, "what is known of data gets newer").toBeGreaterThan(change.before?.asOf ?? 0);
    }
    if (change.type !== "state") continue;
    expect(change.after.version, "versions rise by one").toBe((change.before?.version ?? 0) + 1);
    if (change.before?.deleted === true) {
      expect(change.after.deleted, "deleted stays deleted").toBe(true);
    }
  }
}

function expectMessages(simulation: Simulation, subscriber: string): void {
  const { messages, deadLetters } = simulation.queue(subscriber);
  const texts = new Map<string, string>();
  const named = new Map<string, string>();
  for (const { body } of [...messages, ...deadLetters]) {
    const { id, type, subject, sequence, data, ...others } = message.parse(JSON.parse(body));
    const { attributes: _, attributesSequence: __, ...facts } = data;
    const text = JSON.stringify({ ...others, ...facts });
    expect(texts.get(id) ?? text, "a message is the same whenever it is sent, but for attributes").toBe(text);
    texts.set(id, text);
    // Events of an endpoint that were received in the same millisecond have no order.
    if (type === "endpoint.updated") continue;
    const place = `${type} ${subject} ${sequence}`;
    expect(named.get(place) ?? id, "a sequence is of one message").toBe(id);
    named.set(place, id);
  }
  const announced = new Set(texts.keys());
  for (const id of storedIds(simulation)) expect(announced, "each event is announced").toContain(id);
}

/** Expects that readiness is announced once, and not early. */
function expectReadiness(simulation: Simulation, name: string): void {
  const { provider, readiness, answered } = simulation;
  if (readiness === undefined) return;
  const lacking = [...provider.accounts].flatMap(([id, { profiles }]) => (profiles === 0 ? [id] : []));
  const unready = findUnready({
    endpoints: readiness.endpoints,
    deadlineMillis: readiness.deadlineSeconds * 1_000 - clockGap,
    staleMillis: staleMillis - clockError,
    lacking: new Set(lacking),
    items: simulation.table.items,
    messages: messagesOf(simulation, name),
    reads: answered,
    erased: new Set(),
  });
  expect(unready, "readiness").toEqual([]);
}

/** Messages carry attributes that their own user had, and the newest of a user the last ones. */
function expectAttributes(simulation: Simulation, name: string): void {
  const { provider, table } = simulation;
  const isMapped = Object.keys(simulation.attributes).length > 0;
  const wrong = findWrongAttributes({
    items: table.items,
    messages: messagesOf(simulation, name),
    loans: new Map(isMapped ? provider.loans : []),
    owners: new Map(allAccountIds.map((id) => [id, ownerOf(id)])),
    erased: new Set(),
  });
  expect(wrong, "attributes").toEqual([]);
  for (const id of provider.loans.keys())
    expect(table.loadState({ kind: "user", id })?.unconfirmed, "no question about a user is open").toBe(
      false,
    );
}

function messagesOf(simulation: Simulation, name: string): readonly MessageLine[] {
  const { messages, deadLetters } = simulation.queue(name);
  return [...messages, ...deadLetters].map(({ body, sentAt }) => ({
    subscriber: "everything",
    at: sentAt,
    body,
  }));
}

/** Expects that later messages about an account carry its user's latest attributes. */
export async function expectLatestAttributes(
  simulation: Simulation,
  waitUntilIdle: (simulation: Simulation) => Promise<void>,
): Promise<void> {
  const { provider, subscribers, table } = simulation;
  const before = simulation.queue(subscribers[0]).messages.length;
  for (const id of allAccountIds) provider.happen(id, "data", true);
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
  for (const { body } of simulation.queue(subscribers[0]).messages.slice(before)) {
    const { type, subject, data } = message.parse(JSON.parse(body));
    if (type !== "endpoint.updated") continue;
    const [, id = ""] = subject.split("/");
    const owner = table.loadState({ kind: "account", id })?.userId ?? data.userId;
    const user = table.loadState({ kind: "user", id: String(owner) });
    expect(data.attributes, "attributes").toEqual(user?.attributes?.values);
  }
}
