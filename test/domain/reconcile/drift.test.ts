import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  compareAccount,
  compareUser,
  countVerdicts,
  type Gap,
  type Verdict,
} from "../../../domain/reconcile/drift.ts";
import { judge, type State, settle } from "../../../domain/state/state.ts";
import { accountId, at, eventOf, judged, userId } from "../samples.ts";

const lately = "2026-03-01T12:00:00.000Z";
const account = (connected?: boolean) => ({
  id: accountId,
  datasourceId: "uber",
  ...(connected === undefined ? {} : { connected }),
});
const compare = (known: State | undefined, connected?: boolean) =>
  compareAccount(userId, known, account(connected), lately);

const connected = judged([eventOf("account.connected", { userId })]);
const disconnected = judged([eventOf("account.disconnected", { userId })]);
const created = judged([eventOf("account.created", { userId })]);
const gone = settled(judged([eventOf("account.connected", { userId }), eventOf("account.deleted")]));

function settled(asking: State): State {
  const state = settle(asking, asking.version, { found: false }, { at });
  if (state === undefined) throw new Error("the answer changed nothing");
  return state;
}

function gap(verdict: Verdict): Gap {
  if (typeof verdict === "string") throw new Error(`no gap: ${verdict}`);
  return verdict;
}

/** The event as the consumer stores it. */
const eventFrom = ({ id, kind, facts }: Gap): IncomeEvent => ({
  ...facts,
  id,
  kind,
  receivedAt: lately,
  reconciled: true,
});

describe("a listed user", () => {
  const user = { id: userId, createdAt: "2026-02-01T12:00:00.000Z" };

  it("that the table does not know was missed", () => {
    expect(compareUser(undefined, user, lately)).toMatchObject({
      gap: "missed",
      kind: "users",
      facts: { type: "user.created", userId },
    });
    expect(compareUser(undefined, { id: userId }, lately)).toMatchObject({ gap: "missed" });
  });

  it("that was created lately is left to its webhook", () => {
    expect(compareUser(undefined, { ...user, createdAt: lately }, lately)).toBe("agrees");
  });

  it("that is known agrees, and one known as deleted stays deleted", () => {
    const known = judged([eventOf("user.created", { userId })]);
    expect(compareUser(known, user, lately)).toBe("agrees");
    expect(compareUser({ ...known, deleted: true }, user, lately)).toBe("deleted");
  });
});

describe("a listed account", () => {
  it("that the table does not know was missed, and its event says all that is listed", () => {
    for (const isConnected of [true, false]) {
      expect(gap(compare(undefined, isConnected))).toMatchObject({
        gap: "missed",
        kind: "accounts",
        facts: { type: "account.created", userId, accountId, connected: isConnected, datasourceId: "uber" },
      });
    }
  });

  it("that was created lately is left to its webhook", () => {
    const recent = { ...account(true), createdAt: lately };
    expect(compareAccount(userId, undefined, recent, lately)).toBe("agrees");
  });

  it.each([
    ["connected", connected, true, "agrees"],
    ["connected", connected, false, "contradicted"],
    ["disconnected", disconnected, false, "agrees"],
    ["disconnected", disconnected, true, "contradicted"],
    ["created only", created, false, "agrees"],
    ["created only", created, true, "contradicted"],
    ["connected", connected, undefined, "agrees"],
  ])("that is known as %s and listed as connected: %3$s", (_, known, listed, expected) => {
    const verdict = compare(known, listed);
    expect(typeof verdict === "string" ? verdict : verdict.gap).toBe(expected);
  });

  it("that is known otherwise makes the state unconfirmed, so that the provider is asked", () => {
    const told = judge(connected, eventFrom(gap(compare(connected, false))), 1);
    expect(told).toMatchObject({ connected: true, unconfirmed: true, latest: { outcome: "unconfirmed" } });
  });

  it("that is still unconfirmed is asked about again, whatever the list says", () => {
    const asking = judged([eventOf("account.connected"), eventOf("account.disconnected")]);
    expect(asking.unconfirmed).toBe(true);
    const told = judge(asking, eventFrom(gap(compare(asking, true))), 1);
    expect(told).toMatchObject({ unconfirmed: true, version: asking.version + 1 });
  });

  it("that the table knows as deleted is never brought back to life", () => {
    expect(compare(gone, true)).toBe("deleted");
  });
});

describe("a known account that is not listed", () => {
  const unlisted = (known: State | undefined) => compareAccount(userId, known, undefined, lately);

  it("is told as deleted, which only the provider's answer makes true", () => {
    const found = gap(unlisted(connected));
    expect(found).toMatchObject({ gap: "unlisted", facts: { type: "account.deleted", userId, accountId } });
    const told = judge(connected, eventFrom(found), 1);
    expect(told).toMatchObject({ deleted: false, unconfirmed: true, deletionTold: true });
  });

  it("agrees where it was deleted, or was never known", () => {
    expect(unlisted(gone)).toBe("agrees");
    expect(unlisted(undefined)).toBe("agrees");
  });
});

describe("a gap's event", () => {
  it("is the same as long as the state is, and another one once it has moved on", () => {
    const first = gap(compare(connected, false));
    expect(gap(compare(connected, false)).id).toBe(first.id);
    const moved = judge(connected, eventFrom(first), 1);
    expect(gap(compare(moved, false)).id).not.toBe(first.id);
  });

  it("is told apart from every other's", () => {
    const versions = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(versions, versions, fc.boolean(), fc.boolean(), (one, other, is, was) => {
        const idOf = (version: number, isConnected: boolean) =>
          gap(compare({ ...connected, version, connected: !isConnected }, isConnected)).id;
        expect(idOf(one, is) === idOf(other, was)).toBe(one === other && is === was);
      }),
    );
    const ids = [
      gap(compareUser(undefined, { id: userId }, lately)),
      gap(compareUser(undefined, { id: accountId }, lately)),
      gap(compare(undefined, true)),
      gap(compare(undefined, false)),
      gap(compareAccount(userId, connected, undefined, lately)),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is counted by its kind", () => {
    const missed = compare(undefined, true);
    expect(countVerdicts([missed, missed, compare(connected, false), "agrees", "deleted"])).toEqual({
      missed: 2,
      contradicted: 1,
      unlisted: 0,
      deleted: 1,
    });
  });
});
