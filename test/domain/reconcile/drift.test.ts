import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  type ComparisonResult,
  compareAccount,
  compareCompanyAccount,
  compareUser,
  countComparisons,
  type Drift,
} from "../../../domain/reconcile/drift.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { accountId, applied, at, eventOf, userId } from "../samples.ts";

const lately = "2026-03-01T12:00:00.000Z";
const account = (connected?: boolean) => ({
  id: accountId,
  datasourceId: "uber",
  ...(connected === undefined ? {} : { connected }),
});
const compare = (known: State | undefined, connected?: boolean) =>
  compareAccount(userId, known, account(connected), lately);

const connected = applied([eventOf("account.connected", { userId })]);
const disconnected = applied([eventOf("account.disconnected", { userId })]);
const created = applied([eventOf("account.created", { userId })]);
const gone = settled(applied([eventOf("account.connected", { userId }), eventOf("account.deleted")]));

function settled(asking: State): State {
  const state = applyProviderAnswer(asking, asking.version, { found: false }, { at });
  if (state === undefined) throw new Error("the answer changed nothing");
  return state;
}

function drift(comparison: ComparisonResult): Drift {
  if (typeof comparison === "string" || comparison.drift === "orphaned")
    throw new Error(`no drift: ${JSON.stringify(comparison)}`);
  return comparison;
}

/** The event as the consumer stores it. */
const eventFrom = ({ id, kind, facts }: Drift): IncomeEvent => ({
  ...facts,
  id,
  kind,
  receivedAt: lately,
  reconciled: true,
});

describe("a listed user", () => {
  const user = { id: userId, createdAt: "2026-02-01T12:00:00.000Z" };

  it("that is not in the table was missing", () => {
    expect(compareUser(undefined, user, lately)).toMatchObject({
      drift: "missing",
      kind: "users",
      facts: { type: "user.created", userId },
    });
    expect(compareUser(undefined, { id: userId }, lately)).toMatchObject({ drift: "missing" });
  });

  it("that was created recently is left to its webhook", () => {
    expect(compareUser(undefined, { ...user, createdAt: lately }, lately)).toBe("agrees");
  });

  it("that is in the table agrees, and one deleted there stays deleted", () => {
    const known = applied([eventOf("user.created", { userId })]);
    expect(compareUser(known, user, lately)).toBe("agrees");
    expect(compareUser({ ...known, deleted: true }, user, lately)).toBe("deleted");
  });
});

describe("a listed account", () => {
  it("that is not in the table was missing, and its event contains the listed fields", () => {
    for (const isConnected of [true, false]) {
      expect(drift(compare(undefined, isConnected))).toMatchObject({
        drift: "missing",
        kind: "accounts",
        facts: { type: "account.created", userId, accountId, connected: isConnected, datasourceId: "uber" },
      });
    }
  });

  it("that was created recently is left to its webhook", () => {
    const recent = { ...account(true), createdAt: lately };
    expect(compareAccount(userId, undefined, recent, lately)).toBe("agrees");
  });

  it.each([
    ["connected", connected, true, "agrees"],
    ["connected", connected, false, "conflicting"],
    ["disconnected", disconnected, false, "agrees"],
    ["disconnected", disconnected, true, "conflicting"],
    ["created only", created, false, "agrees"],
    ["created only", created, true, "conflicting"],
    ["connected", connected, undefined, "agrees"],
  ])("that is known as %s and listed as connected: %3$s", (_, known, listed, expected) => {
    const comparison = compare(known, listed);
    expect(typeof comparison === "string" ? comparison : comparison.drift).toBe(expected);
  });

  it("that differs from the table makes the state unconfirmed, so that the provider is called", () => {
    const announced = applyEvent(connected, eventFrom(drift(compare(connected, false))), 1);
    expect(announced).toMatchObject({
      connected: true,
      unconfirmed: true,
      latest: { outcome: "unconfirmed" },
    });
  });

  it("that is still unconfirmed is fetched again, whatever the list says", () => {
    const asking = applied([eventOf("account.connected"), eventOf("account.disconnected")]);
    expect(asking.unconfirmed).toBe(true);
    const announced = applyEvent(asking, eventFrom(drift(compare(asking, true))), 1);
    expect(announced).toMatchObject({ unconfirmed: true, version: asking.version + 1 });
  });

  it("that is deleted in the table is never restored", () => {
    expect(compare(gone, true)).toBe("deleted");
  });
});

describe("a known account that is not listed", () => {
  const orphaned = (known: State | undefined) => compareAccount(userId, known, undefined, lately);

  it("is an orphan, which causes no event", () => {
    expect(orphaned(connected)).toEqual({
      drift: "orphaned",
      orphan: { accountId, userId, version: connected.version },
    });
  });

  it("agrees if it was deleted, or was never known", () => {
    expect(orphaned(gone)).toBe("agrees");
    expect(orphaned(undefined)).toBe("agrees");
  });
});

describe("a company account that the provider is asked about", () => {
  const company = applied([eventOf("company-account.connected", { companyAccountId: "c" })]);

  it("agrees, or has an event with what the provider says", () => {
    expect(compareCompanyAccount(company, true)).toBe("agrees");
    expect(drift(compareCompanyAccount(company, false))).toMatchObject({
      ...{ drift: "conflicting", kind: "company-accounts" },
      facts: { type: "company-account.updated", companyAccountId: "c", connected: false },
    });
  });

  it("has an event of its own: another's is another one", () => {
    const ids = ["c", "d"].map((id) => {
      const known = { ...company, subject: { kind: "company-account", id } } as const;
      return drift(compareCompanyAccount(known, false)).id;
    });
    expect(new Set(ids).size).toBe(2);
  });
});

describe("a drift's event", () => {
  it("is the same until the state changes", () => {
    const first = drift(compare(connected, false));
    expect(drift(compare(connected, false)).id).toBe(first.id);
    const moved = applyEvent(connected, eventFrom(first), 1);
    expect(drift(compare(moved, false)).id).not.toBe(first.id);
  });

  it("differs from every other's", () => {
    const versions = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(versions, versions, fc.boolean(), fc.boolean(), (one, other, is, was) => {
        const idOf = (version: number, isConnected: boolean) =>
          drift(compare({ ...connected, version, connected: !isConnected }, isConnected)).id;
        expect(idOf(one, is) === idOf(other, was)).toBe(one === other && is === was);
      }),
    );
    const ids = [
      drift(compareUser(undefined, { id: userId }, lately)),
      drift(compareUser(undefined, { id: accountId }, lately)),
      drift(compare(undefined, true)),
      drift(compare(undefined, false)),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("is counted by its kind", () => {
    const missing = compare(undefined, true);
    expect(countComparisons([missing, missing, compare(connected, false), "agrees", "deleted"])).toEqual({
      missing: 2,
      conflicting: 1,
      orphaned: 0,
      deleted: 1,
    });
  });
});
