import { describe, expect, it } from "vitest";
import { expectAlways, expectAtRest } from "../../../proof/model/table/laws.ts";
import { noFault, type Running } from "../../../proof/model/table/process.ts";
import { documents, type Name } from "../../../proof/model/table/provider.ts";
import {
  deliver,
  go,
  pass,
  pollTasks,
  pollWebhooks,
  usual,
  waitUntilIdle,
} from "../../../proof/model/table/simulation.ts";
import { World } from "../../../proof/model/table/world.ts";

const second = 1_000;
const hour = 3_600 * second;
const [income, employment] = documents as readonly [Name, Name, ...Name[]];

/** A document changes, and an event announces it. */
function announce(world: World, name: Name, isStrong: boolean): void {
  world.provider.change(name, 0);
  world.provider.announce(name, isStrong, world.isoTime);
}

/** Lets go on what is chosen by its name, until none of it is left to do. */
function drive(world: World, isChosen: (what: string) => boolean): void {
  for (;;) {
    const action = usual(world).find(({ what }) => isChosen(what));
    if (action === undefined) return;
    action.run();
  }
}
const isReceiving = (what: string) => what.startsWith("receive") || what === "deliver";
const isStoring = (what: string) => what.startsWith("store");
const isBeforeFetch = (what: string) => !what.startsWith("fetch") && what !== "poll tasks";

function comeToRest(world: World): void {
  waitUntilIdle(world);
  expectAtRest(world);
}

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
      comeToRest(world);
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

describe("a document that is read again", () => {
  it("is announced once, while it stays the same", () => {
    const world = new World();
    announce(world, income, true);
    comeToRest(world);
    pass(world, 60 * second);
    announce(world, income, true);
    comeToRest(world);
    const told = world.announcements.filter(({ digest }) => digest !== undefined);
    expect(told).toHaveLength(1);
    expect(world.provider.reads).toBe(2);
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

describe("a document whose asOf is in the future, since a service's clock was wrong", () => {
  it("is read again for the next event, and says then when that was", () => {
    const world = new World();
    announce(world, income, true);
    comeToRest(world);
    const [[key, stored] = []] = world.table.documents;
    if (key === undefined || stored === undefined) throw new Error("nothing is stored");
    const ahead = world.now + hour;
    const after = { ...stored, asOf: ahead, announced: ahead };
    world.table.documents.set(key, after);
    world.table.stream.push({ of: "document", after });
    pass(world, 60 * second);
    world.provider.change(income, 1);
    world.provider.announce(income, true, world.isoTime);
    comeToRest(world);
    expect(world.table.documents.get(key)?.asOf).toBeLessThanOrEqual(world.now);
  });
});

describe("a start whose event is lost", () => {
  /** Lets the pipeline call for a start, which waits before it has an effect. */
  function untilStart(): World {
    const world = new World();
    // At an odd time the provider does not announce what a start brings.
    world.now += 1;
    world.provider.connect(income.subject, true, undefined);
    drive(world, isBeforeFetch);
    pollTasks(world);
    drive(world, (what) => what === "fetch reads a state");
    return world;
  }

  it("is checked, and its documents are read", () => {
    const world = untilStart();
    comeToRest(world);
    expect(world.table.documents.size).toBe(2);
  });

  it("is checked also where a document was read for another event while its call was under way", () => {
    const world = untilStart();
    const [start] = world.processes.running;
    pass(world, 5 * second);
    announce(world, income, true);
    drive(world, (what) => isBeforeFetch(what));
    const isOther = ({ work }: Running) => work !== start?.work;
    pollTasks(world);
    for (
      let other = world.processes.running.find(isOther);
      other;
      other = world.processes.running.find(isOther)
    ) {
      go(world, other, noFault);
    }
    expect(world.table.documents.size).toBe(1);
    comeToRest(world);
    expect(world.table.documents.size).toBe(2);
  });
});

describe("an outage", () => {
  /** The provider is down for so long. */
  function liveThroughOutage(hours: number): World {
    const world = new World();
    announce(world, income, true);
    announce(world, employment, true);
    drive(world, isBeforeFetch);
    world.provider.isDown = true;
    const end = world.now + hours * hour;
    while (world.now < end) {
      drive(world, () => true);
      expectAlways(world);
      const times = world.tasks.messages.map(({ visibleAt }) => visibleAt);
      if (times.length === 0) break;
      pass(world, Math.max(second, Math.min(...times) - world.now));
    }
    return world;
  }

  it("of 240 hours makes no dead letters, and the documents are read when it ends", () => {
    const world = liveThroughOutage(240);
    expect(world.tasks.deadLetters).toEqual([]);
    expect(world.tasks.messages).toHaveLength(2);
    comeToRest(world);
  });

  it("of 14 days makes dead letters with a reason, which can be redriven when it ends", () => {
    const world = liveThroughOutage(14 * 24);
    expect(world.tasks.deadLetters.map(({ reason }) => reason)).toEqual(Array(2).fill("the provider failed"));
    comeToRest(world);
  });
});

describe("the tasks of a document of which one waits", () => {
  it("wait with it, however many come", () => {
    const world = new World();
    announce(world, income, true);
    drive(world, isBeforeFetch);
    world.provider.isDown = true;
    pollTasks(world);
    drive(world, (what) => what.startsWith("fetch"));
    const reads = world.provider.reads;
    for (const _ of [1, 2]) {
      announce(world, income, true);
      drive(world, isBeforeFetch);
    }
    expect(world.tasks.visible(world.queueTime)).toEqual([]);
    comeToRest(world);
    expect(world.provider.reads).toBe(reads + 1);
  });
});
