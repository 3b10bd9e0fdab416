import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventType } from "../../domain/events.ts";
import { messageOfDataSet, messageOfState } from "../../domain/message.ts";
import { retellData } from "../../domain/retell.ts";
import { eventOf, minute } from "../domain/samples.ts";
import { RepairWorld, type Truth } from "./repair-world.ts";

type Step = {
  readonly account: number;
  readonly what: "create" | "connect" | "disconnect" | "update" | "delete" | "data";
  readonly isTimed: boolean;
  readonly hasUser: boolean;
  readonly copies: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  account: fc.nat(1),
  what: fc.constantFrom(
    "create",
    "connect",
    "disconnect",
    "update",
    "data",
    "connect",
    "disconnect",
    "delete",
  ),
  isTimed: fc.boolean(),
  hasUser: fc.boolean(),
  copies: fc.integer({ min: 1, max: 3 }),
});
const history = fc.array(step, { minLength: 1, maxLength: 14 });

const types: Readonly<Record<Step["what"], EventType>> = {
  create: "account.created",
  connect: "account.connected",
  disconnect: "account.disconnected",
  update: "account.updated",
  delete: "account.deleted",
  data: "endpoint.updated",
};

/** The truth changes with each step; an event that happens after a deletion does not happen. */
function play(world: RepairWorld, steps: readonly Step[], settles: () => boolean): void {
  for (const [index, { account, what, isTimed, hasUser, copies }] of steps.entries()) {
    const accountId = `account-${account}`;
    const truth: Truth = world.truths.get(accountId) ?? { connected: false, deleted: false };
    if (truth.deleted) continue;
    if (what === "connect" || what === "disconnect") truth.connected = what === "connect";
    if (what === "delete") truth.deleted = true;
    world.truths.set(accountId, truth);
    if (what === "data") world.contents.set(`account/${accountId}/income`, `content-${index}`);
    for (let copy = 0; copy < copies; copy += 1) {
      // The time of its receipt is no part of an event's identity: without a time of its own the same comes again.
      world.receive({
        ...eventOf(types[what], {
          accountId,
          ...(hasUser && { userId: `user-${account}` }),
          ...(isTimed && { time: minute(index) }),
          ...(what === "update" && { connected: truth.connected }),
          ...(what === "data" && { endpoint: "income" }),
        }),
        receivedAt: minute(index),
      });
      if (settles()) world.settle();
    }
  }
  world.settle();
}

const isLive = (truth: Truth | undefined) => truth?.connected === true && !truth.deleted;

function factsOf(world: RepairWorld) {
  return {
    states: [...world.states]
      // What was last known of a deleted one depends on the order.
      .map(([name, { connected, deleted, unconfirmed, userId }]) => ({
        name,
        connected: deleted || connected,
        deleted,
        unconfirmed,
        userId,
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    // What a start alone led to is there where the account is still connected: else there is nothing to start.
    dataSets: [...world.dataSets]
      .filter(([name, { subject }]) => world.contents.has(name) || isLive(world.truths.get(subject.id)))
      .map(([name, { content, wanted, done }]) => ({ name, content, isOutstanding: wanted > done }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    links: [...world.links].toSorted(),
    events: [...new Set(world.messages.map(({ id }) => id).filter((id) => world.events.has(id)))].toSorted(),
  };
}

/** The highest `sequence` of each subject tells what is known; what is there of data was told by its own name. */
function expectAllTold(world: RepairWorld): void {
  const ids = new Set(world.messages.map(({ id }) => id));
  expect([...world.events.keys()].filter((id) => !ids.has(id))).toEqual([]);
  for (const state of world.states.values()) {
    const subject = `${state.subject.kind}/${state.subject.id}`;
    const told = world.messages
      .filter((message) => message.subject === subject)
      .reduce((one, other) => (other.sequence >= one.sequence ? other : one));
    const { deleted, connected } = state;
    expect(told.data).toMatchObject({
      deleted,
      unconfirmed: false,
      ...(connected !== undefined && { connected }),
    });
    if (state.latest.cause === "answer") expect(ids).toContain(messageOfState(state, "urn:test")?.id);
  }
  for (const dataSet of world.dataSets.values()) {
    const data = retellData(dataSet);
    const message = data && messageOfDataSet(data, "urn:test");
    if (message !== undefined) expect(ids).toContain(message.id);
  }
}

describe("repair", () => {
  it("gives what it would have been without the loss, whichever records of the stream got lost", async () => {
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.boolean()),
        fc.infiniteStream(fc.boolean()),
        fc.nat(40),
        async (steps, settles, losses, lossless) => {
          const complete = new RepairWorld(() => false);
          play(complete, steps, () => true);
          let records = 0;
          // From some record on, any.
          const world = new RepairWorld(() => records++ >= lossless && losses.next().value === true);
          play(world, steps, () => settles.next().value === true);
          lost += world.lost;
          await world.repair();
          expect(factsOf(world)).toEqual(factsOf(complete));
          expectAllTold(world);
          for (const [name, { connected, deleted }] of world.states) {
            if (connected === true && !deleted) {
              const isRead = [...world.dataSets].some(
                ([key, { done }]) => key.startsWith(`${name}/`) && done > 0,
              );
              expect(world.started.has(name) || isRead).toBe(true);
            }
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(lost).toBeGreaterThan(1000);
  });
});
