import { describe, expect, it } from "vitest";
import { announce, drive, employment, income, isBeforeFetch } from "../../../proof/model/table/drive.ts";
import { comeToRest, expectAlways } from "../../../proof/model/table/laws.ts";
import { noFault, type Running } from "../../../proof/model/table/process.ts";
import { go, pass, pollTasks } from "../../../proof/model/table/simulation.ts";
import { World } from "../../../proof/model/table/world.ts";

const second = 1_000;
const hour = 3_600 * second;

describe("a dead letter", () => {
  it.each([1, 400])("that is redriven after %d seconds is done", (seconds) => {
    const world = new World();
    announce(world, income, true);
    drive(world, isBeforeFetch);
    for (const message of world.tasks.messages) message.receives = 989;
    world.provider.isDown = true;
    drive(world, () => true);
    expect(world.tasks.deadLetters).toHaveLength(1);
    pass(world, seconds * second);
    comeToRest(world);
    expect(world.table.documents.size).toBe(1);
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
  function liveThroughOutage(hours: number, tasks: number): World {
    const world = new World();
    announce(world, employment, true);
    for (let count = 0; count < tasks; count += 1) {
      announce(world, income, true);
      drive(world, isBeforeFetch);
    }
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
    const world = liveThroughOutage(240, 2);
    expect(world.tasks.deadLetters).toEqual([]);
    expect(world.tasks.messages).toHaveLength(3);
    comeToRest(world);
  });

  it("of 15 days makes dead letters with a reason, which can be redriven when it ends", () => {
    const world = liveThroughOutage(15 * 24, 12);
    const reasons = world.tasks.deadLetters.map(({ reason }) => reason);
    expect(reasons).toEqual(Array(13).fill("the provider failed"));
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
