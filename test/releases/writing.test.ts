import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnEachTable, startTestSystem, type TestSystem } from "../support/engines.ts";
import { previousRelease } from "../support/previous-release.ts";
import { type ReleaseSamples, readSamples, writeSamples } from "./sample-files.ts";
import { takenAway } from "./samples.ts";
import { writtenToday } from "./write-samples.ts";

/** Set to a version, it keeps what is written today as the samples of that release. */
const { WRITE_SAMPLES: version } = process.env;

await describeOnEachTable("what this release writes", (tables) => {
  let system: TestSystem;
  let today: ReleaseSamples;
  beforeAll(async () => {
    system = await startTestSystem(tables);
    today = await writtenToday(system);
    if (version !== undefined) await writeSamples(version, today);
  });
  afterAll(() => system.close());

  it("has every value that the release before it wrote", async () => {
    const previous = await previousRelease();
    // Bytes of a compressed object are the library's business, defaults of settings each release's own.
    const { objects = {}, settings: _, ...before } = await readSamples(previous.version);
    const howToChange = "See docs/adr/0029: expand, release, contract.";
    expect(takenAway(before, today), howToChange).toEqual([]);
    expect(Object.keys(today.objects ?? {}), howToChange).toEqual(
      expect.arrayContaining(Object.keys(objects)),
    );
  });

  it("carries a version, in every message and item", () => {
    const { envelopes, tasks, erasures, items } = today;
    const samples = [envelopes, tasks, erasures, items].flatMap((sort) => Object.values(sort ?? {}));
    expect(samples.length).toBeGreaterThan(20);
    for (const sample of samples) expect(sample).toHaveProperty("schemaVersion", expect.any(Number));
  });
});

describe("what is taken away", () => {
  const before = {
    read: { schemaVersion: 1, wanted: 2, subject: { kind: "user", id: "u" }, ids: [1, { a: 2 }] },
  };

  it("is nothing where something was added", () => {
    const now = {
      ...before,
      ask: {},
      read: { ...before.read, since: "x", subject: { ...before.read.subject, of: 1 } },
    };
    expect(takenAway(before, now)).toEqual([]);
  });

  it.each([
    ["a renamed field", { ...before.read, wanted: undefined, want: 2 }, "/read/wanted is missing, was 2"],
    ["another type", { ...before.read, wanted: "2" }, '/read/wanted is "2", was 2'],
    ["a field inside", { ...before.read, subject: { kind: "user" } }, '/read/subject/id is missing, was "u"'],
    ["a list's value", { ...before.read, ids: [1, { a: 3 }] }, '/read/ids is [1,{"a":3}], was [1,{"a":2}]'],
    ["a version after the next", { ...before.read, schemaVersion: 3 }, "/read/schemaVersion is 3, was 1"],
    ["the whole", undefined, "/read is missing"],
  ])("is %s", (_, read, words) => {
    expect(takenAway(before, { read })).toEqual([words]);
  });

  it("is left to the bundles of the release before where the version is the next", () => {
    expect(takenAway(before, { read: { schemaVersion: 2, want: 2 } })).toEqual([]);
  });
});
