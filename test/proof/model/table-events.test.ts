import { describe, expect, it } from "vitest";
import {
  announce,
  drive,
  income,
  isBeforeFetch,
  isReceiving,
  isStoring,
} from "../../../proof/model/table/drive.ts";
import { comeToRest } from "../../../proof/model/table/laws.ts";
import { reconcile } from "../../../proof/model/table/operate.ts";
import { deliver, go, pass, pollWebhooks, startRelay } from "../../../proof/model/table/simulation.ts";
import { World } from "../../../proof/model/table/world.ts";

const second = 1_000;

/** What a part of a history costs in write units. */
function unitsOf(world: World, run: () => void): number {
  const before = world.table.units;
  run();
  return world.table.units - before;
}

describe("an event", () => {
  it.each([true, false])("costs its receipt and its document (with an id of its own: %s)", (isStrong) => {
    const world = new World();
    announce(world, income, isStrong);
    expect(unitsOf(world, () => comeToRest(world))).toBe(2);
  });

  it.each([true, false])(
    "that comes again costs one write unit to store (with an id of its own: %s)",
    (isStrong) => {
      const world = new World();
      announce(world, income, isStrong);
      comeToRest(world);
      pass(world, 60 * second);
      for (const webhook of world.provider.webhooks) deliver(world, webhook);
      drive(world, isReceiving);
      const store = () => {
        pollWebhooks(world, world.webhooks.visible(world.queueTime));
        drive(world, isStoring);
      };
      expect(unitsOf(world, store)).toBe(1);
      const sent = world.tasks.sent;
      comeToRest(world);
      expect(world.tasks.sent).toBe(isStrong ? sent : sent + 1);
    },
  );

  it.each([true, false])("that comes twice in one batch costs one write unit to store (%s)", (isStrong) => {
    const world = new World();
    announce(world, income, isStrong);
    for (const webhook of [...world.provider.webhooks, ...world.provider.webhooks]) {
      deliver(world, webhook);
      drive(world, (what) => what.startsWith("receive"));
    }
    pollWebhooks(world, world.webhooks.visible(world.queueTime));
    expect(unitsOf(world, () => drive(world, isStoring))).toBe(1);
    comeToRest(world);
  });
});

describe("a message that SQS delivers again", () => {
  it.each([0, 1])("is no repeat of its event, whether it was the first or the last: %d", (index) => {
    const world = new World();
    announce(world, income, false);
    drive(world, isReceiving);
    for (const webhook of world.provider.webhooks) deliver(world, webhook);
    drive(world, isReceiving);
    const messages = [...world.webhooks.messages];
    comeToRest(world);
    world.webhooks.messages = messages.slice(index, index + 1);
    comeToRest(world);
    const counts = [...world.table.events.values()].map(({ receipts }) => receipts.count);
    expect(counts).toEqual([2]);
  });
});

describe("events of one document", () => {
  it("that are relayed together are read with one call", () => {
    const world = new World();
    for (const _ of [1, 2, 3]) announce(world, income, true);
    drive(world, (what) => isReceiving(what));
    pollWebhooks(world, world.webhooks.visible(world.queueTime));
    comeToRest(world);
    expect(world.provider.reads).toBe(1);
  });

  it("whose tasks wait together are read with one call", () => {
    const world = new World();
    for (const _ of [1, 2, 3]) {
      announce(world, income, true);
      drive(world, isBeforeFetch);
      pass(world, second);
    }
    expect(world.tasks.sent).toBe(3);
    comeToRest(world);
    expect(world.provider.reads).toBe(1);
  });

  it("whose task was sent long before a read that another one led to are not read again", () => {
    const world = new World();
    for (let count = 0; count < 8; count += 1) {
      announce(world, income, true);
      drive(world, isBeforeFetch);
    }
    pass(world, 60 * second);
    comeToRest(world);
    // A batch holds five.
    expect(world.provider.reads).toBe(1);
  });
});

/** Has the documents of an account read, for no event. */
function readMeanwhile(world: World): void {
  pass(world, 5 * second);
  world.processes.start("reconcile", Number.POSITIVE_INFINITY, () => reconcile(world, income.subject));
  drive(world, (what) => /reconcile|fetch|tasks/.test(what) && !what.startsWith("relay"));
  pass(world, 5 * second);
}

describe("a document that is read between two events", () => {
  it("is read again where their receipts, of the same bytes, are stored together", () => {
    const world = new World();
    announce(world, income, false);
    drive(world, isReceiving);
    readMeanwhile(world);
    announce(world, income, false);
    drive(world, isReceiving);
    comeToRest(world);
  });

  it("is read again where they are relayed together", () => {
    const world = new World();
    announce(world, income, true);
    drive(world, (what) => isReceiving(what) || isStoring(what));
    readMeanwhile(world);
    announce(world, income, true);
    drive(world, (what) => isReceiving(what) || isStoring(what));
    comeToRest(world);
  });
});

describe("events of one state that are relayed together", () => {
  it("are taken in their order, also where the write of the first fails", () => {
    const world = new World();
    const { subject } = income;
    for (const [index, isConnected] of [true, false, true].entries()) {
      world.provider.connect(subject, isConnected, new Date(world.now + index * second).toISOString());
    }
    drive(world, (what) => isReceiving(what) || isStoring(what));
    startRelay(world);
    drive(world, (what) => what.startsWith("relay reads"));
    const [relay] = world.processes.running;
    if (relay === undefined) throw new Error("nothing is relayed");
    go(world, relay, { kind: "one fails", pick: 0 });
    comeToRest(world);
  });
});
