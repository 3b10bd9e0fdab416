import { beforeEach, describe, expect, test } from "vitest";
import { orphans } from "../../../adapters/dynamodb/orphans.ts";
import { applyEvent, applyProviderAnswer } from "../../../domain/state/state.ts";
import { eventOf } from "../../domain/samples.ts";
import { describeOnTables } from "../../support/engines.ts";
import { day, factsOf, hour, permits, reconcilerFixture } from "../support/reconciler-fixture.ts";

await describeOnTables("accounts that the provider's lists omit", (tables) => {
  const fixture = reconcilerFixture(tables);
  const { tickOf, calls, fed, learnAll } = fixture;
  let users: readonly string[];
  let accounts: readonly string[];
  let gone: string;
  const stored = () => orphans(fixture.system.dynamodb, fixture.table.name);
  const forget = (forSeconds?: number) =>
    fixture.sandbox.fault({
      ...{ effect: "forget-accounts", share: 1 },
      ...(forSeconds !== undefined && { forSeconds }),
    });
  const deletionOf = (accountId: string) => ({
    kind: "accounts",
    facts: { type: "account.deleted", accountId, userId: users[accounts.indexOf(accountId)] },
  });

  /** A tick some hours later. */
  async function tickAfter(hours: number, tick = tickOf(), event: object = {}) {
    fixture.time += hours * hour;
    return tick(60_000, event);
  }

  /** The account is missing in two scheduled runs. */
  async function omitTwice(): Promise<void> {
    fixture.sandbox.deleteAccount(gone);
    await tickOf()();
    await tickAfter(24);
  }

  beforeEach(async () => {
    const announced = await fixture.sandbox.createUsers(3);
    ({ users, accounts } = announced);
    [gone = ""] = accounts;
    await learnAll(announced);
  });

  test("for 15 seconds, with states that are 404, delete nobody and are reported to nobody", async () => {
    await tickOf()();
    forget(15);
    await tickAfter(24);
    fixture.sandbox.clearFaults();
    for (let quarters = 0; quarters < 12; quarters += 1) await tickAfter(6);
    expect(calls(/accounts$/).length).toBeGreaterThan(9);
    expect(await fed()).toEqual([]);
    expect(await stored().deletions()).toEqual([]);
  });

  test("at the same hour each night delete nobody: the provider is called again six hours later", async () => {
    for (let nights = 0; nights < 5; nights += 1) {
      forget();
      await tickAfter(12);
      fixture.sandbox.clearFaults();
      await tickAfter(6);
      await tickAfter(6);
    }
    expect(calls(/\/accounts\/[^/]+$/).length).toBeGreaterThan(0);
    expect(await fed()).toEqual([]);
    expect(await stored().deletions()).toEqual([]);
  });

  test("are deleted after two scheduled runs in a row and a 404 six hours later, and reported once", async () => {
    await omitTwice();
    await tickAfter(5.9);
    expect(await fed()).toEqual([]);
    expect(calls(/\/accounts\/[^/]+$/)).toEqual([]);
    await tickAfter(0.1);
    expect(factsOf(await fed())).toEqual([deletionOf(gone)]);
    for (let days = 0; days < 6; days += 1) await tickAfter(24);
    expect(await fed()).toEqual([]);
  });

  test("start over when an event of the account comes", async () => {
    fixture.sandbox.deleteAccount(gone);
    const hear = (name: string) =>
      fixture.known.reviseState({ kind: "account", id: gone }, (state) =>
        applyEvent(state, eventOf("account.updated", { accountId: gone, datasourceId: name }), 1),
      );
    await tickOf()();
    await hear("before the second run");
    await tickAfter(24);
    expect(await stored().deletions()).toEqual([]);
    await tickAfter(24);
    expect(await stored().deletions()).toHaveLength(1);
    await hear("before the question");
    await tickAfter(6);
    expect(await fed()).toEqual([]);
    expect(await stored().deletions()).toEqual([]);
  });

  test("wait for an operator if they are too many within seven days", async () => {
    const tick = tickOf({ maxDeletions: { percent: 0, atLeast: 1 } });
    forget();
    await tick();
    await tickAfter(24, tick);
    await tickAfter(6, tick);
    expect(await fed()).toEqual([]);
    expect(fixture.entries).toContainEqual(expect.objectContaining({ code: "DELETIONS_HELD", count: 3 }));

    expect(await tickAfter(0, tick, { acceptDeletions: true })).toEqual({ outcome: "accepted", accepted: 3 });
    await tickAfter(5.9, tick);
    expect(await fed()).toEqual([]);
    await tickAfter(0.1, tick);
    const reported = factsOf(await fed());
    expect(reported).toHaveLength(3);
    expect(reported).toEqual(expect.arrayContaining(accounts.map(deletionOf)));
    expect(await tickAfter(0, tick, { acceptDeletions: true })).toEqual({ outcome: "accepted", accepted: 0 });
  });

  /**
   * Kills ticks after their first call to AWS, their second and so on, until one completes.
   * @returns the number of killed ticks
   */
  async function killTicks(): Promise<number> {
    for (let survives = 0; ; survives += 1) {
      let made = 0;
      const working = fixture.system.intercept(async (_, phase) => {
        if (phase === "after") made += 1;
        return phase === "after" && made > survives ? "drop" : undefined;
      });
      await tickOf()().catch(() => undefined);
      working();
      if (made <= survives) return survives;
    }
  }

  test("are deleted once, wherever ticks are killed", async () => {
    fixture.sandbox.deleteAccount(gone);
    await tickOf()();
    fixture.time += day;
    expect(await killTicks()).toBeGreaterThan(5);
    expect(await stored().deletions()).toMatchObject([{ accountId: gone }]);
    fixture.time += 6 * hour;
    expect(await killTicks()).toBeGreaterThan(3);
    const reported = await fed();
    expect(new Set(reported.map(({ id }) => id)).size).toBe(1);
    expect(factsOf(reported)).toContainEqual(deletionOf(gone));
  });

  test.each<[string, Parameters<typeof fixture.sandbox.fault>[0]]>([
    ["202", { status: 202 }],
    ["204", { status: 204 }],
    ["401 for both attempts", { status: 401, times: 2 }],
    ["maintenance", { effect: "maintenance" }],
  ])("are checked again if the answer does not contain them: %s", async (_, fault) => {
    await omitTwice();
    fixture.sandbox.fault({ ...fault, path: "/accounts/[^/]+$" });
    await tickAfter(6);
    expect(fixture.entries).toContainEqual(
      expect.objectContaining({ code: "RECONCILIATION_SKIPPED", subject: { kind: "account", id: gone } }),
    );
    expect(await fed()).toEqual([]);
    await tickAfter(1);
    expect(factsOf(await fed())).toEqual([deletionOf(gone)]);
  });

  test("are checked in a later tick if the rate is used up", async () => {
    await omitTwice();
    const { permit } = permits(0);
    expect(await tickAfter(6, tickOf({ permit }))).toMatchObject({ outcome: "paused" });
    expect(await fed()).toEqual([]);
    await tickAfter(1);
    expect(factsOf(await fed())).toEqual([deletionOf(gone)]);
  });

  describe("once they are deleted", () => {
    const deleteReconciled = async (id: string) => {
      const subject = { kind: "account", id } as const;
      const event = eventOf("account.deleted", { accountId: id, reconciled: true });
      await fixture.known.reviseState(subject, (state) => applyEvent(state, event, 1));
      await fixture.known.reviseState(subject, (state) =>
        applyProviderAnswer(state, state?.version ?? 0, { found: false }, { at: new Date() }),
      );
    };

    test("can be reverted by an operator, unless a webhook reported the deletion", async () => {
      await deleteReconciled(gone);
      const [, alive = ""] = accounts;
      expect(await tickAfter(0, tickOf(), { restore: [gone, alive, "nobody"] })).toEqual({
        outcome: "restored",
        restored: 1,
        others: [alive, "nobody"],
        underWay: [],
      });
      expect(factsOf(await fed())).toEqual([
        {
          kind: "accounts",
          facts: { type: "account.restored", accountId: gone, userId: users[0] },
        },
      ]);
    });

    test("can all be reverted, later if the event of the deletion has not taken effect yet", async () => {
      await omitTwice();
      await tickAfter(6);
      await fed();
      const undelete = () => tickAfter(0, tickOf(), { restore: "all" });
      expect(await undelete()).toMatchObject({ restored: 0, others: [], underWay: [gone] });
      expect(await fed()).toEqual([]);
      await deleteReconciled(gone);
      expect(await undelete()).toMatchObject({ restored: 1, underWay: [] });
      expect(factsOf(await fed())).toMatchObject([{ facts: { type: "account.restored", accountId: gone } }]);
      expect(await stored().deletions()).toEqual([]);
    });
  });
});
