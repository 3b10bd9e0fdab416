import { beforeEach, expect, test } from "vitest";
import { RefusalNote, TokenRefusals } from "../../../adapters/provider/token-refusals.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

await describeOnEachTable("refused tokens", (tables) => {
  const made = systemWithTable(tables);
  let note: RefusalNote;
  let time: number;
  let asked: number;
  beforeEach(async () => {
    made.table = await made.system.createTable();
    note = new RefusalNote(made.system.dynamodb, made.table.name);
    time = Date.parse("2026-11-21T12:00:00Z");
    asked = 0;
  });

  /** The cache of one process. */
  const knowing = (ask = async () => {}) =>
    new TokenRefusals(
      note,
      () => {
        asked += 1;
        return ask();
      },
      () => new Date(time),
    );
  const writes = () => made.system.calls().get("test dynamodb:UpdateItem") ?? 0;

  test("a burst in many processes asks for one refresh, with one write in each", async () => {
    const processes = Array.from({ length: 5 }, () => knowing());
    const before = writes();
    await Promise.all(processes.flatMap((each) => Array.from({ length: 20 }, () => each.report("v1"))));
    expect(asked).toBe(1);
    expect(writes() - before).toBe(5);
    expect(await note.read()).toBe("v1");
  });

  test.each([
    { what: "just now", after: 0, isClaimed: false },
    { what: "59.999 s ago", after: 59_999, isClaimed: false },
    { what: "a minute ago", after: 60_000, isClaimed: true },
    { what: "by a clock that is 60 s ahead", after: -60_000, isClaimed: false },
    { what: "by a clock that is further ahead", after: -60_001, isClaimed: true },
    { what: "by a clock that is an hour ahead", after: -3_600_000, isClaimed: true },
  ])("one refresh a minute is made by all runs together: claimed $what", async ({ after, isClaimed }) => {
    const first = await Promise.all([1, 2, 3].map(() => note.claimRefresh(new Date(time))));
    expect(first.filter(Boolean)).toHaveLength(1);
    await note.note("v1");
    await note.conclude("v1", true);
    expect(await note.claimRefresh(new Date(time + after))).toBe(isClaimed);
    expect(await note.read()).toBe("v1");
  });

  test("a refused version requests one refresh however long it is refused; the next version another", async () => {
    const refusals = knowing();
    for (let minute = 0; minute < 5; minute += 1) {
      await refusals.report("v1");
      time += 60_000;
    }
    expect(asked).toBe(1);
    await refusals.report("v2");
    expect(asked).toBe(2);
  });

  test("a version first noted by a caller that cannot request a refresh is requested by the next one that can", async () => {
    const silent = new TokenRefusals(note, undefined, () => new Date(time));
    await silent.report("v1");
    expect(asked).toBe(0);
    await knowing().report("v1");
    await knowing().report("v1");
    expect(asked).toBe(1);
    await silent.report("v2");
    await knowing().report("v2");
    expect(asked).toBe(2);
    await note.conclude("v2", true);
    await knowing().report("v2");
    expect(asked).toBe(2);
  });

  test("an operator sees whether a version was refused, and whether that is final", async () => {
    const known = () => note.statusOf("v1");
    expect(await known()).toBe("none");
    await note.note("v1");
    expect(await known()).toBe("noted");
    await note.conclude("v1", true);
    expect(await known()).toBe("ended");
    // The provider accepts it elsewhere, so the refusal was about the path.
    await note.conclude("v1", false);
    expect(await known()).toBe("none");
    await note.note("v2");
    expect(await known()).toBe("none");
    const before = writes();
    await known();
    expect(writes()).toBe(before);
  });

  test("a refresh that cannot be requested is left to the next scheduled run, which reads the note", async () => {
    await knowing(() => Promise.reject(new Error("throttled"))).report("v1");
    expect(await note.read()).toBe("v1");
  });

  test("a note that cannot be written fails, and is written the next time", async () => {
    const refusals = knowing();
    const working = made.system.fail("dynamodb:UpdateItem");
    await expect(refusals.report("v1")).rejects.toThrow("injected by the test");
    working();
    await refusals.report("v1");
    expect(asked).toBe(1);
  });

  test("a revoked version is skipped for a minute after it was reported again, and then retried", async () => {
    const refusals = knowing();
    const report = (versionId: string) => refusals.report(versionId);
    const isEnded = (versionId: string) => refusals.isEnded(versionId);
    await report("v1");
    await note.conclude("v1", true);
    expect(isEnded("v1")).toBe(false);
    time += 4_999;
    await report("v1");
    expect(isEnded("v1")).toBe(false);
    time += 1;
    await report("v1");
    expect(isEnded("v1")).toBe(true);
    expect(isEnded("v2")).toBe(false);
    time += 59_999;
    expect(isEnded("v1")).toBe(true);
    time += 1;
    expect(isEnded("v1")).toBe(false);
    expect(asked).toBe(1);
  });

  test("a version that is accepted again is used, and so is the next one", async () => {
    await note.note("v1");
    await note.conclude("v1", true);
    await note.conclude("v1", false);
    expect(await note.note("v1")).toBe("known");
    await note.conclude("v1", true);
    expect(await note.note("v2")).toBe("noted");
    expect(await note.note("v2")).toBe("known");
  });

  test("a conclusion about another version changes nothing", async () => {
    await note.note("v2");
    await note.conclude("v1", true);
    expect(await note.note("v2")).toBe("known");
  });
});
