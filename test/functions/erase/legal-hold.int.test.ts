import { expect, test } from "vitest";
import { legalHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture } from "../support/eraser-fixture.ts";

await describeOnTables("the erasure of whom a legal hold is on", (tables) => {
  const fixture = eraserFixture(tables);
  const { storeAll, run, erase, remains, report, isErased } = fixture;
  const hold = (subject: Subject) =>
    legalHolds(fixture.system.dynamodb, fixture.table.name).set(subject, { at: "now", reason: "case" }, []);
  const logged = () => fixture.entries.map(({ code }) => code);

  test.each([
    ["a user who is held", () => fixture.user, () => fixture.user],
    ["a user of whom an account is held", () => fixture.account, () => fixture.user],
    ["an account whose user is held", () => fixture.user, () => fixture.account],
  ])("does not start: %s", async (_, held, asked) => {
    await storeAll();
    await hold(held());
    const { length } = await remains(fixture.user.id, fixture.account.id);
    await erase(asked());
    expect(await remains(fixture.user.id, fixture.account.id)).toHaveLength(length);
    expect(await report()).toMatchObject({ isDone: true, isFound: false, isHeld: true, removed: {} });
    expect(await isErased(asked())).toEqual([]);
    expect(logged()).toContain("ERASURE_HELD");
  });

  test("does not start either if the provider reports that the user was deleted", async () => {
    await storeAll();
    await hold(fixture.user);
    await fixture.ask(eraseTask(fixture.user, "deleted"));
    await run();
    expect(await isErased(fixture.user)).toEqual([]);
    expect(logged()).toEqual(["ERASURE_HELD"]);
  });

  test("removes everything despite the hold with a flag: versions, and the hold itself", async () => {
    await storeAll();
    const { storing } = fixture;
    for (const text of ["[1]", "[2]", "[3]"])
      await storing.document(fixture.account, "jobs", text, { retainDays: 30 });
    await hold(fixture.user);
    await fixture.ask({ ...eraseTask(fixture.user, "operator", [], "followed"), isDespiteHold: true });
    await run();
    expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
    expect(await report()).toMatchObject({ isFound: true, removed: { holds: 1, versions: 2 } });
  });

  test("continues if it began before the hold was set", async () => {
    await storeAll();
    const { tombstones, digestOf } = fixture.dependencies;
    await tombstones.place(await digestOf(fixture.user), undefined);
    await hold(fixture.user);
    await erase(fixture.user);
    expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
  });
});
