import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { batchOf } from "../../proof/soak/expected.ts";
import { growing, isAssessable, type Sample, takeSamples } from "../../proof/soak/memory.ts";
import { observerOf } from "../../proof/soak/observer.ts";
import { isGood, lastLine } from "../../proof/soak/report.ts";
import { soak } from "../../proof/soak/run.ts";
import { readState, writeState } from "../../proof/soak/state.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "soak-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("a small soak", { timeout: 900_000 }, () => {
  it("goes on where it was interrupted, loses and doubles nothing, and leaves every queue empty", async () => {
    const options = {
      plan: { events: 300, endToEnd: 100 },
      eventsPerBatch: 100,
      eventsPerSession: 1_000,
      file: join(directory, "small.json"),
    };
    const interruption = new AbortController();
    await soak({ ...options, signal: interruption.signal, onProgress: () => interruption.abort() });
    expect(lastLine(readState(options.file, options.plan))).toMatch(
      /^soak: events 100\/300 end-to-end 100\/100 /,
    );
    const rest: string[] = [];
    const state = await soak({
      ...options,
      signal: new AbortController().signal,
      onProgress: (text) => rest.push(text),
    });
    expect(rest).toHaveLength(2);
    expect(lastLine(state)).toBe(
      "soak: events 300/300 end-to-end 100/100 lost 0 doubled 0 depth 0 memory unassessed sessions 0/2",
    );
    expect(isGood(state)).toBe(true);
  });
});

describe("a batch", () => {
  it("is the same for the same number, and shares no event with another", () => {
    const [one, other] = [batchOf(0, 100), batchOf(1, 100)];
    expect(batchOf(0, 100)).toEqual(one);
    expect([one.events.size, one.data.size]).toEqual([100, 70]);
    expect(one.deliveries.length).toBeGreaterThan(100);
    expect([...one.events].filter((id) => other.events.has(id))).toEqual([]);
  });
});

describe("an observer", () => {
  const batch = { events: new Set(["a", "b"]), data: new Set(["account/x/income"]) };
  const insert = (id: string) => ({
    eventName: "INSERT",
    dynamodb: {
      Keys: { sk: { S: `EVENT#${id}` } },
      ApproximateCreationDateTime: 0,
      SequenceNumber: "1",
      SizeBytes: 1,
      StreamViewType: "NEW_AND_OLD_IMAGES",
    },
  });
  const message = (id: string, more: object = {}) =>
    JSON.stringify({ id, type: "account.created", subject: "account/x", ...more });
  const whole = () => {
    const observer = observerOf(batch);
    observer.see([insert("a"), insert("b")]);
    for (const id of ["a", "b"]) observer.receive(message(id));
    observer.receive(message("d", { type: "data.updated", subject: "account/x/income" }));
    return observer;
  };

  it("misses what was not stored, not sent, or whose data was not", () => {
    expect(whole().outcome()).toEqual({ lost: 0, doubled: 0 });
    expect(observerOf(batch).outcome()).toEqual({ lost: 3, doubled: 0 });
    const unannounced = observerOf(batch);
    unannounced.see([insert("a"), insert("b")]);
    unannounced.receive(message("a"));
    expect(unannounced.outcome()).toEqual({ lost: 2, doubled: 0 });
    const unstored = observerOf({ ...batch, data: new Set() });
    for (const id of ["a", "b"]) unstored.receive(message(id));
    expect(unstored.missing()).toBe(2);
  });

  it("counts a second record and another message of one id as doubled; the same message again is none", () => {
    const observer = whole();
    observer.receive(message("a"));
    observer.see([{ ...insert("a"), eventName: "MODIFY" }]);
    expect(observer.outcome()).toEqual({ lost: 0, doubled: 0 });
    observer.see([insert("a")]);
    observer.receive(message("b", { type: "account.updated" }));
    expect(observer.outcome()).toEqual({ lost: 0, doubled: 2 });
  });
});

describe("memory", () => {
  const session = (bytesAt: (batch: number) => number): readonly Sample[] =>
    Array.from({ length: 60 }, (_, batch) => ({ events: batch * 1_000, bytes: bytesAt(batch) }));
  const megabyte = 1_000_000;
  const noise = (batch: number) => ((batch * 7_919) % 13) * 0.2 * megabyte;

  it.each([
    ["is flat", (batch: number) => 80 * megabyte + noise(batch), []],
    [
      "fills to begin with, and is flat then",
      (batch: number) => Math.min(30, batch) * 4 * megabyte + noise(batch),
      [],
    ],
    ["creeps by less than a twentieth", (batch: number) => (80 + 0.1 * batch) * megabyte + noise(batch), []],
    [
      "grows a little with each leg",
      (batch: number) => (80 + 0.2 * batch) * megabyte + noise(batch),
      ["Store"],
    ],
    ["grows by steps", (batch: number) => (80 + 8 * Math.floor(batch / 5)) * megabyte, ["Store"]],
  ])("that %s is reported as such", (_, bytesAt, expected) => {
    expect(growing({ Store: session(bytesAt), Relay: session(() => megabyte) })).toEqual(expected);
  });

  it("is what each process holds, batch after batch, and nothing of a function that was not called", async () => {
    const holding = (liveBytes: number) => ({
      function: (name: string) => ({
        memoryMb: 512,
        measureMemory: async () =>
          name === "FetchData" ? [] : [{ liveBytes, maxResidentBytes: 90 * 2 ** 20 }],
      }),
    });
    const first = await takeSamples(holding(7), 100, {});
    const { UsersStore, FetchData } = await takeSamples(holding(8), 200, first);
    expect(UsersStore).toEqual([
      { events: 100, bytes: 7 },
      { events: 200, bytes: 8 },
    ]);
    expect(FetchData).toEqual([]);
  });

  it("beyond what the template gives ends the soak, as Lambda would have ended the function", async () => {
    const taking = (maxResidentBytes: number) => ({
      function: () => ({ memoryMb: 512, measureMemory: async () => [{ liveBytes: 1, maxResidentBytes }] }),
    });
    await expect(takeSamples(taking(512 * 2 ** 20), 100, {})).resolves.toBeDefined();
    await expect(takeSamples(taking(513 * 2 ** 20), 100, {})).rejects.toThrow(
      "took 513 MB, and its template gives 512",
    );
  });

  it("is not assessed by few samples", () => {
    const short = session((batch) => batch * megabyte).slice(0, 18);
    expect([growing({ Store: short }), isAssessable({ Store: short })]).toEqual([[], false]);
    expect(isAssessable({ Store: session(() => 1) })).toBe(true);
  });
});

describe("how far a soak has come", () => {
  it("is kept for the same plan, and starts over for another", () => {
    const file = join(directory, "state.json");
    const plan = { events: 10, endToEnd: 5 };
    const begun = readState(file, plan);
    expect(isGood(begun)).toBe(false);
    const further = { ...begun, driven: { ...begun.driven, legs: 2, events: 5, lost: 1 } };
    writeState(file, further);
    expect(readState(file, plan)).toEqual(further);
    expect(readState(file, { ...plan, endToEnd: 6 }).driven.legs).toBe(0);
    const whole = { ...further, flowing: { ...begun.flowing, events: 5 } };
    expect(isGood(whole)).toBe(false);
    expect(isGood({ ...whole, driven: { ...whole.driven, lost: 0 } })).toBe(true);
    const memoryIn = (part: object) =>
      lastLine({ ...whole, driven: { ...whole.driven, ...part } }).split(" memory ")[1];
    expect(memoryIn({})).toBe("unassessed sessions 0/0");
    expect(memoryIn({ assessed: 1, sessions: 2 })).toBe("flat sessions 1/2");
    expect(memoryIn({ assessed: 1, sessions: 1, growing: ["Store"] })).toBe("grows (Store) sessions 1/1");
  });
});
