import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../../domain/message/message-schemas.ts";
import type { ReplayRun } from "../../../../domain/recovery/replay-run.ts";
import type { ReplaySelection } from "../../../../domain/state/replay.ts";
import { CommandError } from "../../../../packages/cli/core/command-error.ts";
import { replay } from "../../../../packages/cli/recovery/replay.ts";
import { minute } from "../../../domain/samples.ts";
import { history, play } from "../support/history.ts";
import { PipelineSimulation } from "../support/pipeline-simulation.ts";

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

/** Records what was sent to each subscriber, and the last saved step. */
class Delivery {
  readonly sent = new Map<string, Message[]>();
  saved: ReplayRun | undefined;
  left = Number.POSITIVE_INFINITY;
  isOvertaken = false;

  ports(simulation: PipelineSimulation) {
    return {
      stored: simulation.stored(),
      records: simulation.records(),
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
      origin: { source, documentsUrl: "https://reads.example/" },
      onPage: () => undefined,
    };
  }

  to(name: string): readonly Message[] {
    return this.sent.get(name) ?? [];
  }
}

const calm = () => new PipelineSimulation(() => false);
/** A simulation after these steps of one account. */
function played(...steps: readonly Parameters<typeof play>[1][number]["what"][]) {
  const simulation = calm();
  const step = { account: 0, isTimed: true, hasUser: false, copies: 1 };
  play(
    simulation,
    steps.map((what) => ({ ...step, what })),
    () => true,
  );
  return simulation;
}
async function replayAll(simulation: PipelineSimulation, selection: ReplaySelection = {}) {
  const delivery = new Delivery();
  const { run } = await replay(begin(selection), [everything], delivery.ports(simulation));
  return { messages: delivery.to("everything"), run };
}

describe("a replay", () => {
  it("sends every stored event once, with the id of its own message and the current state", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const simulation = calm();
        play(simulation, steps, () => true);
        const original = new Map(simulation.messages.map((message) => [message.id, message]));
        const { messages, run } = await replayAll(simulation);
        const ids = messages.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((id) => simulation.events.has(id)).toSorted()).toEqual(
          [...simulation.events.keys()].toSorted(),
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
          const state = simulation.states.get(message.subject);
          // A data announcement says nothing about a state: it is repeated as reported.
          if (state === undefined)
            expect({ sequence, data }).toEqual({ sequence: first?.sequence, data: first?.data });
          if (state !== undefined) {
            const { deleted, connected, unconfirmed, version, latest } = state;
            expect(Number(sequence)).toBe(version);
            if (sequence === first?.sequence && latest.cause !== "again") expect(data).toEqual(first.data);
            expect(data).toMatchObject({
              deleted,
              unconfirmed,
              ...(connected !== undefined && { connected }),
            });
          }
        }
        // Everything ever announced is sent again, except answers that others have replaced.
        const unannounced = [...original.values()].filter(({ id }) => !ids.includes(id));
        for (const { type, subject, sequence } of unannounced) {
          expect(type).toMatch(/^(data\.updated|account\.confirmed)$/);
          const newest =
            simulation.states.get(subject)?.version ?? simulation.documents.get(subject)?.announced;
          expect(Number(sequence)).toBeLessThan(newest ?? 0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("killed anywhere goes on from its last step: all is sent, and a step at most twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
        async (steps, kills) => {
          const simulation = calm();
          play(simulation, steps, () => true);
          const { messages } = await replayAll(simulation);
          const delivery = new Delivery();
          let run = begin();
          for (const left of kills) {
            delivery.left = left;
            await replay(run, [everything], delivery.ports(simulation)).catch(() => undefined);
            run = delivery.saved ?? run;
          }
          delivery.left = Number.POSITIVE_INFINITY;
          await replay(run, [everything], delivery.ports(simulation));
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

  it("beside live messages leaves a reader that compares `sequence` with the current state", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(6), async (steps, late) => {
        const simulation = calm();
        const early = steps.slice(0, Math.max(1, steps.length - late));
        play(simulation, early, () => true);
        for (const [index, step] of steps.slice(early.length).entries()) {
          simulation.meanwhile.push(() => play(simulation, [step], () => true, early.length + index));
        }
        const { messages } = await replayAll(simulation);
        const newest = new Map<string, Message>();
        for (const each of [...simulation.messages, ...messages]) {
          if (each.sequence >= (newest.get(each.subject)?.sequence ?? "")) newest.set(each.subject, each);
        }
        for (const [name, { connected, deleted, unconfirmed }] of simulation.states) {
          const known = { deleted, unconfirmed, ...(connected !== undefined && { connected }) };
          expect(newest.get(name)?.data).toMatchObject(known);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("sends what is selected by type and time alone", async () => {
    const simulation = played("create", "connect", "data", "disconnect");
    const typesOf = async (selection: ReplaySelection) =>
      (await replayAll(simulation, selection)).messages.map(({ type }) => type).toSorted();
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

  it("sends each subscriber what its filter accepts, unless told to send all types", async () => {
    const simulation = played("connect", "data");
    const subscribers = [everything, queue("accounts", ["account.*"])];
    const delivery = new Delivery();
    const { run } = await replay(begin(), subscribers, delivery.ports(simulation));
    expect(
      delivery
        .to("everything")
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(["account.connected", "data.updated", "endpoint.updated"]);
    expect(delivery.to("accounts").map(({ type }) => type)).toEqual(["account.connected"]);
    expect(run.counts.sent).toEqual({ everything: 3, accounts: 1 });

    const all = new Delivery();
    await replay(begin({}, { allTypes: true }), subscribers, all.ports(simulation));
    expect(all.to("accounts")).toHaveLength(3);
  });

  it("leaves out what nothing has followed yet, and counts it", async () => {
    const simulation = new PipelineSimulation(() => true);
    play(simulation, [{ account: 0, what: "connect", isTimed: true, hasUser: false, copies: 1 }], () => true);
    const { messages, run } = await replayAll(simulation);
    expect(messages).toEqual([]);
    expect(run.counts).toMatchObject({ messages: 0, pending: 1 });
  });

  it("sends the last event of a subject whose own item has expired", async () => {
    const simulation = played("create", "connect");
    simulation.events.clear();
    const { messages } = await replayAll(simulation);
    expect(messages.map(({ type }) => type)).toEqual(["account.connected"]);
  });

  it("ends if another process continues it", async () => {
    const simulation = played("connect");
    const delivery = new Delivery();
    delivery.isOvertaken = true;
    await expect(replay(begin(), [everything], delivery.ports(simulation))).rejects.toThrow(CommandError);
  });
});
