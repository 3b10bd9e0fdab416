import { createHash } from "node:crypto";
import { expect } from "vitest";
import { z } from "zod";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { accountIds, endpoint, userId } from "./provider.ts";
import type { Simulation } from "./simulation.ts";

const message = z.object({ id: z.string(), type: z.string(), subject: z.string(), sequence: z.string() });

const data = z.object({ data: z.array(z.object({ version: z.number() })) });

const taskQueues = ["fetch", "checks"] as const;

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
  for (const name of simulation.subscribers) expectMessages(simulation, name);
  expect(simulation.provider.isValid(simulation.secret.current.token), "the token").toBe(true);
}

function storedIds(simulation: Simulation): readonly string[] {
  return [...simulation.table.events.values()].map(({ event }) => event.id);
}

function waitingIds(simulation: Simulation): readonly string[] {
  return (["accounts", "endpoints"] as const).flatMap((kind) => {
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
  for (const id of accountIds) {
    const truth = simulation.provider.accounts.get(id);
    const state = simulation.table.loadState({ kind: "account", id });
    if (state === undefined) continue;
    expect(state.unconfirmed, "no question is open").toBe(false);
    expect(state.deleted, "deleted").toBe(truth?.deleted);
    if (truth?.deleted === false && truth.connected !== undefined) {
      expect(state.connected, "connected").toBe(truth.connected);
    }
    expect(simulation.table.links, "links").toContain(`${userId} ${id}`);
  }
}

function expectData(simulation: Simulation): void {
  for (const id of accountIds) {
    const account = simulation.provider.accounts.get(id);
    const known = simulation.table.loadDocument({ kind: "account", id }, { endpoint });
    if (account === undefined || account.deleted) continue;
    if (account.data === 0) continue;
    const text = simulation.table.contentOf({ kind: "account", id }, { endpoint });
    const digest = createHash("sha256")
      .update(text ?? "")
      .digest("hex");
    const versions = data.parse(JSON.parse(text ?? "{}")).data.map(({ version }) => version);
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
    const { id, type, subject, sequence } = message.parse(JSON.parse(body));
    expect(texts.get(id) ?? body, "a message is the same whenever it is sent").toBe(body);
    texts.set(id, body);
    // Events of an endpoint that were received in the same millisecond have no order.
    if (type === "endpoint.updated") continue;
    const place = `${type} ${subject} ${sequence}`;
    expect(named.get(place) ?? id, "a sequence is of one message").toBe(id);
    named.set(place, id);
  }
  const announced = new Set(texts.keys());
  for (const id of storedIds(simulation)) expect(announced, "each event is announced").toContain(id);
}
