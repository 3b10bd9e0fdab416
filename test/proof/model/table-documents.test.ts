import { describe, expect, it } from "vitest";
import { announce, drive, employment, income, isBeforeFetch } from "../../../proof/model/table/drive.ts";
import { comeToRest } from "../../../proof/model/table/laws.ts";
import { noFault } from "../../../proof/model/table/process.ts";
import { go, pass, pollTasks, waitUntilIdle } from "../../../proof/model/table/simulation.ts";
import { World } from "../../../proof/model/table/world.ts";

const second = 1_000;
const hour = 3_600 * second;

describe("a document that is read again", () => {
  it("is announced once, while it stays the same", () => {
    const world = new World();
    world.provider.change(income, 0);
    world.provider.announce(income, true, world.isoTime);
    comeToRest(world);
    pass(world, 60 * second);
    world.provider.change(income, 0);
    world.provider.announce(income, true, world.isoTime);
    comeToRest(world);
    const announced = world.announcements.filter(({ digest }) => digest !== undefined);
    expect(announced).toHaveLength(1);
    expect(world.provider.reads).toBe(2);
  });
});

/** Starts a fetch of a document in pages, of which the second can't be read. */
function readFirstPage(world: World): void {
  announce(world, employment, true);
  drive(world, isBeforeFetch);
  pollTasks(world);
  drive(world, (what) => what === "fetch reads documents and tombstones");
  const [fetch] = world.processes.running;
  if (fetch === undefined) throw new Error("nothing is fetched");
  go(world, fetch, noFault);
  go(world, fetch, { kind: "fails", pick: 0 });
  drive(world, (what) => what.startsWith("fetch"));
  expect(world.pages.size).toBe(1);
}

describe("a document in pages", () => {
  it("is gone on with, and covers no task that came after its first page", () => {
    const world = new World();
    readFirstPage(world);
    pass(world, second);
    announce(world, employment, true);
    comeToRest(world);
    expect(world.provider.reads).toBe(2);
  });

  it("is not gone on with where another fetch has written it", () => {
    const world = new World();
    readFirstPage(world);
    world.provider.change(employment, 1);
    const { version } = world.provider.contentOf(employment);
    const truth = { version, began: world.now, messages: [] };
    const [asOf, digest] = [world.now + second, "another"];
    const written = { name: employment, asOf, by: [], digest, announced: asOf, fetchedAt: asOf, truth };
    expect(world.table.writeDocument(undefined, written, true)).toBe(true);
    pass(world, 60 * second);
    comeToRest(world);
  });

  it("is forgotten with its subject", () => {
    const world = new World();
    readFirstPage(world);
    world.erasures.send({ subject: employment.subject, pass: 1 }, world.queueTime);
    comeToRest(world);
    expect(world.pages.size).toBe(0);
  });

  it("has its object where its content is one that it had before", () => {
    const world = new World();
    for (const content of [0, 1, 0]) {
      world.provider.change(employment, content);
      world.provider.announce(employment, true, world.isoTime);
      waitUntilIdle(world);
      pass(world, 60 * second);
    }
    expect(world.superseded).toHaveLength(2);
    comeToRest(world);
  });
});

describe("the write of a document whose answer is lost", () => {
  it("has done all tasks that its call covered", () => {
    const world = new World();
    for (const _ of [1, 2]) {
      announce(world, income, true);
      drive(world, isBeforeFetch);
    }
    pollTasks(world);
    drive(world, (what) => what.startsWith("fetch reads"));
    const [fetch] = world.processes.running;
    if (fetch !== undefined) go(world, fetch, { kind: "answer is lost", pick: 0 });
    comeToRest(world);
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
