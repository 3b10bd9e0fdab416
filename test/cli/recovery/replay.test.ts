import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CommandError } from "../../../cli/core/command-error.ts";
import { replay } from "../../../cli/recovery/replay.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import type { ReplaySelection } from "../../../domain/state/replay.ts";
import { minute } from "../../domain/samples.ts";
import { history, play } from "../support/history.ts";
import { SmallWorld } from "../support/pipeline-simulation.ts";

const source = "urn:test";
const queue = (name: string, types?: readonly string[]) => ({
  name,
  ...(types && { types }),
  queueUrl: `https://sqs/${name}`,
  deadLetterQueueUrl: "",
});
const everything = queue("everything");

function begin(selection: ReplaySelection = {}, more: Partial<ReplayRun> = {}): ReplayRun {
  const counts = { examined: 0, messages: 0, pending: 0, sent: {} };
  return {
    id: "replay-1",
    version: 0,
    selection,
    subscribers: [],
    allTypes: false,
    rate: 50,
    counts,
    ...more,
  };
}

/** Keeps what was sent to each subscriber, and the last step that was noted. */
class Delivery {
  readonly sent = new Map<string, Message[]>();
  saved: ReplayRun | undefined;
  left = Number.POSITIVE_INFINITY;
  isOvertaken = false;

  ports(world: SmallWorld) {
    return {
      stored: world.stored(),
      revisions: world.records(),
      deliver: async ({ name }: { name: string }, messages: readonly Message[]) => {
        this.left -= 1;
        if (this.left < 0) throw new Error("killed");
        this.sent.set(name, [...(this.sent.get(name) ?? []), ...messages]);
      },
      save: async (run: ReplayRun) => {
        if (this.isOvertaken) return undefined;
        this.saved = { ...run, version: run.version + 1 };
        return this.saved;
      },
      source,
      onPage: () => undefined,
    };
  }

  to(name: string): readonly Message[] {
    return this.sent.get(name) ?? [];
  }
}

const calm = () => new SmallWorld(() => false);
async function replayAll(world: SmallWorld, selection: ReplaySelection = {}) {
  const delivery = new Delivery();
  const { run } = await replay(begin(selection), [everything], delivery.ports(world));
  return { messages: delivery.to("everything"), run };
}

describe("a replay", () => {
  it("tells every stored event once, by the id of its own message, with what is known today", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const world = calm();
        play(world, steps, () => true);
        const original = new Map(world.messages.map((message) => [message.id, message]));
        const { messages, run } = await replayAll(world);
        const ids = messages.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((id) => world.events.has(id)).toSorted()).toEqual(
          [...world.events.keys()].toSorted(),
        );
        expect(run.counts).toMatchObject({
          messages: ids.length,
          pending: 0,
          sent: { everything: ids.length },
        });
        for (const { replayid, sequence, data, ...message } of messages) {
          expect(replayid).toBe("replay-1");
          const first = original.get(message.id);
          expect(first).toMatchObject(message);
          const record = world.states.get(message.subject) ?? world.dataSets.get(message.subject);
          expect(Number(sequence)).toBe(record?.version);
          // The latest message of a record is told as it was.
          if (sequence === first?.sequence && record?.latest.cause !== "again")
            expect(data).toEqual(first.data);
          const state = world.states.get(message.subject);
          if (state !== undefined) {
            const { deleted, connected, unconfirmed } = state;
            expect(data).toMatchObject({
              deleted,
              unconfirmed,
              ...(connected !== undefined && { connected }),
            });
          }
        }
        // All that was ever told is told again, but for answers that others have replaced.
        const untold = [...original.values()].filter(({ id }) => !ids.includes(id));
        for (const { type, subject, sequence } of untold) {
          expect(type).toMatch(/^(data\.updated|account\.confirmed)$/);
          const record = world.states.get(subject) ?? world.dataSets.get(subject);
          expect(Number(sequence)).toBeLessThan(record?.version ?? 0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("killed anywhere goes on from its last step: all is told, and a step at most twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
        async (steps, kills) => {
          const world = calm();
          play(world, steps, () => true);
          const { messages } = await replayAll(world);
          const delivery = new Delivery();
          let run = begin();
          for (const left of kills) {
            delivery.left = left;
            await replay(run, [everything], delivery.ports(world)).catch(() => undefined);
            run = delivery.saved ?? run;
          }
          delivery.left = Number.POSITIVE_INFINITY;
          await replay(run, [everything], delivery.ports(world));
          expect(new Set(delivery.to("everything").map(({ id }) => id))).toEqual(
            new Set(messages.map(({ id }) => id)),
          );
          expect(new Set(delivery.to("everything").map(({ replayid }) => replayid)).size).toBeLessThanOrEqual(
            1,
          );
          expect(delivery.to("everything").length - messages.length).toBeLessThanOrEqual(kills.length * 10);
          expect(delivery.saved?.counts.messages).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("beside live messages leaves a reader that goes by `sequence` with what is known", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(6), async (steps, late) => {
        const world = calm();
        const early = steps.slice(0, Math.max(1, steps.length - late));
        play(world, early, () => true);
        for (const [index, step] of steps.slice(early.length).entries()) {
          world.meanwhile.push(() => play(world, [step], () => true, early.length + index));
        }
        const { messages } = await replayAll(world);
        const newest = new Map<string, Message>();
        for (const each of [...world.messages, ...messages]) {
          if (each.sequence >= (newest.get(each.subject)?.sequence ?? "")) newest.set(each.subject, each);
        }
        for (const [name, { connected, deleted, unconfirmed }] of world.states) {
          const known = { deleted, unconfirmed, ...(connected !== undefined && { connected }) };
          expect(newest.get(name)?.data).toMatchObject(known);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("tells what is selected by type and time alone", async () => {
    const world = calm();
    const step = { account: 0, isTimed: true, hasUser: false, copies: 1 };
    play(
      world,
      (["create", "connect", "data", "disconnect"] as const).map((what) => ({ ...step, what })),
      () => true,
    );
    const typesOf = async (selection: ReplaySelection) =>
      (await replayAll(world, selection)).messages.map(({ type }) => type).toSorted();
    expect(await typesOf({ type: "account.*" })).toEqual([
      "account.connected",
      "account.created",
      "account.disconnected",
    ]);
    expect(await typesOf({ type: "data.updated" })).toEqual(["data.updated"]);
    expect(await typesOf({ since: minute(1), until: minute(3) })).toEqual([
      "account.connected",
      "endpoint.updated",
    ]);
    expect(await typesOf({ since: minute(9) })).toEqual(["data.updated"]);
    expect(await typesOf({ until: minute(0) })).toEqual([]);
  });

  it("gives each subscriber what its filter takes, unless all types are to be told", async () => {
    const world = calm();
    const step = { account: 0, isTimed: true, hasUser: false, copies: 1 };
    play(
      world,
      (["connect", "data"] as const).map((what) => ({ ...step, what })),
      () => true,
    );
    const subscribers = [everything, queue("accounts", ["account.*"])];
    const delivery = new Delivery();
    const { run } = await replay(begin(), subscribers, delivery.ports(world));
    expect(
      delivery
        .to("everything")
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(["account.connected", "data.updated", "endpoint.updated"]);
    expect(delivery.to("accounts").map(({ type }) => type)).toEqual(["account.connected"]);
    expect(run.counts.sent).toEqual({ everything: 3, accounts: 1 });

    const all = new Delivery();
    await replay(begin({}, { allTypes: true }), subscribers, all.ports(world));
    expect(all.to("accounts")).toHaveLength(3);
  });

  it("leaves out what nothing has followed yet, and counts it", async () => {
    const world = new SmallWorld(() => true);
    play(world, [{ account: 0, what: "connect", isTimed: true, hasUser: false, copies: 1 }], () => true);
    const { messages, run } = await replayAll(world);
    expect(messages).toEqual([]);
    expect(run.counts).toMatchObject({ messages: 0, pending: 1 });
  });

  it("tells the last event of a subject whose own item has expired", async () => {
    const world = calm();
    const step = { account: 0, isTimed: true, hasUser: false, copies: 1 };
    play(
      world,
      (["create", "connect"] as const).map((what) => ({ ...step, what })),
      () => true,
    );
    world.events.clear();
    const { messages } = await replayAll(world);
    expect(messages.map(({ type }) => type)).toEqual(["account.connected"]);
  });

  it("ends where another process goes on with it", async () => {
    const world = calm();
    play(world, [{ account: 0, what: "connect", isTimed: true, hasUser: false, copies: 1 }], () => true);
    const delivery = new Delivery();
    delivery.isOvertaken = true;
    await expect(replay(begin(), [everything], delivery.ports(world))).rejects.toThrow(CommandError);
  });
});
