import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { FailureError, permanent } from "../../../domain/core/failures.ts";
import { dataIn } from "../../../domain/fetch/answer.ts";
import { parseProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { parseReconcileSettings } from "../../../domain/reconcile/reconcile-settings.ts";
import { parseListReader, readListed, readSlice } from "../../../domain/state/listing.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { accountId, userId } from "../samples.ts";

const { reconcile: defaults, provider: given } = parseSettings({ production: false }, "f.json");
const provider = parseProviderSettings(given);
const { readers } = parseReconcileSettings(defaults, { users: "uuid", accounts: "uuid" });
const user = (item: unknown) => readListed(readers.users, item, jmespathSearch);
const account = (item: unknown) => readListed(readers.accounts, item, jmespathSearch);

describe("a list", () => {
  const { paging } = provider;
  const slice = (answer: unknown, reader = readers.users) =>
    readSlice(reader, dataIn(JSON.stringify(answer)), paging);
  const list = [{ id: userId }];

  it("is found bare, or at the path of provider.paging", () => {
    expect(slice(list)).toEqual({ items: list, next: undefined });
    expect(slice([])).toEqual({ items: [], next: undefined });
    expect(slice({ data: list, next: "c" })).toMatchObject({ items: list, next: { next: "c", pages: 1 } });
  });

  it("keeps the digits of ids beyond 2^53", () => {
    const any = parseReconcileSettings(defaults, { users: "any", accounts: "any" }).readers.users;
    const { items } = readSlice(
      any,
      dataIn('[{"id":1227795846152789711},{"id":1227795846152789712}]'),
      paging,
    );
    expect(items.map((item) => readListed(any, item, jmespathSearch).id)).toEqual([
      "1227795846152789711",
      "1227795846152789712",
    ]);
  });

  it("is refused if it is not where the settings say", () => {
    expect(() => slice({ users: list })).toThrow("reconcile.users.items: finds no list");
    expect(() => slice({ data: list }, { ...readers.users, items: "users" })).toThrow(
      "reconcile.users.items: ",
    );
  });

  it("may have its own path", () => {
    expect(slice({ users: list, next: null }, { ...readers.users, items: "users" }).items).toEqual(list);
  });
});

describe("a listed item", () => {
  it("has the id that events have: a UUID in lower case", () => {
    expect(user({ id: userId.toUpperCase() })).toEqual({ id: userId });
    expect(user({ user_id: userId, created_at: "2026-03-01 12:00:00 UTC" })).toEqual({
      id: userId,
      createdAt: "2026-03-01T12:00:00.000Z",
    });
  });

  it.each([
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000Z"],
    ["1772366400", "2026-03-01T12:00:00.000Z"],
    [1772366400, "2026-03-01T12:00:00.000Z"],
    [1772366400123, "2026-03-01T12:00:00.123Z"],
    ["lately", undefined],
    [7, undefined],
    [null, undefined],
  ])("has its time of creation in each format that events may have: %j", (time, expected) => {
    const { items } = readSlice(
      readers.users,
      dataIn(JSON.stringify([{ id: userId, created_at: time }])),
      provider.paging,
    );
    expect(readListed(readers.users, items[0], jmespathSearch).createdAt).toBe(expected);
  });

  it("of accounts contains whether it is connected, and its user", () => {
    const item = { account_id: accountId, connected: false, datasource_id: 7, created_at: "lately" };
    expect(account(item)).toEqual({ id: accountId, connected: false, datasourceId: "7" });
    expect(account({ id: accountId })).toEqual({ id: accountId });
  });

  it.each([
    [{ name: "Ada" }, "reconcile.users.id: finds nothing in a listed item"],
    [{ id: "Ada" }, 'reconcile.users.id: not a UUID; mapping.ids "any" would accept it'],
    [{ id: 2 ** 60 }, "reconcile.users.id: expected a short text or a whole number, not this number"],
  ])("without an id is refused by its setting, never with its value: %j", (item, reason) => {
    expect(() => user(item)).toThrow(permanent(reason));
  });

  it("may have any id if the mapping allows any", () => {
    const any = parseReconcileSettings(defaults, { users: "any", accounts: "any" }).readers.users;
    expect(readListed(any, { id: "u-1" }, jmespathSearch)).toEqual({ id: "u-1" });
  });
});

describe("the settings of reconciliation", () => {
  it("are read as they are written, and ids are UUIDs unless the mapping allows any", () => {
    const read = parseReconcileSettings(
      {
        ...{ everyHours: 12, graceMinutes: 5, rereadAfterDays: 30, askAgainAfterHours: 6 },
        maxDeletions: { percent: 7, atLeast: 9 },
        missed: { atMostEveryMinutes: 15, gapMinutes: 10 },
        ...{ users: { id: "id", items: "users" }, accounts: { id: "id", createdAt: "a", updatedAt: "b" } },
      },
      { users: "any", accounts: "uuid" },
    );
    expect(read).toEqual({
      ...{ everyHours: 12, graceMinutes: 5, rereadAfterDays: 30, askAgainAfterHours: 6 },
      maxDeletions: { percent: 7, atLeast: 9 },
      missed: { atMostEveryMinutes: 15, gapMinutes: 10, minuteInMillis: 60_000 },
      readers: {
        users: { name: "reconcile.users", ids: "any", id: "id", items: "users" },
        accounts: { name: "reconcile.accounts", ids: "uuid", id: "id", createdAt: "a", updatedAt: "b" },
      },
    });
    const scaled = { ...defaults, missed: { ...defaults.missed, minuteInMillis: 1_000 } };
    expect(parseReconcileSettings(scaled, {}).missed.minuteInMillis).toBe(1_000);
    const item = { id: "id", connected: "on", datasourceId: "source" };
    expect(parseListReader("list", item, undefined)).toEqual({ name: "list", ids: "uuid", ...item });
  });

  it("are refused with the name of the invalid setting", () => {
    const ids = { users: "uuid", accounts: "uuid" };
    const broken: [string, unknown][] = [
      ["reconcile", undefined],
      ["everyHours", { ...defaults, everyHours: "24" }],
      ["graceMinutes", { ...defaults, graceMinutes: null }],
      ["rereadAfterDays", { ...defaults, rereadAfterDays: undefined }],
      ["askAgainAfterHours", { ...defaults, askAgainAfterHours: "6" }],
      ["reconcile.maxDeletions", { ...defaults, maxDeletions: 5 }],
      ["percent", { ...defaults, maxDeletions: { atLeast: 5 } }],
      ["atLeast", { ...defaults, maxDeletions: { percent: 5 } }],
      ["reconcile.missed", { ...defaults, missed: undefined }],
      ["gapMinutes", { ...defaults, missed: { atMostEveryMinutes: 15 } }],
      ["atMostEveryMinutes", { ...defaults, missed: { gapMinutes: 15 } }],
      ["reconcile.users", { ...defaults, users: [] }],
      ["id", { ...defaults, accounts: { ...defaults.accounts, id: 5 } }],
    ];
    for (const [name, value] of broken) {
      expect(() => parseReconcileSettings(value, ids), name).toThrow(new RegExp(`^${name}: expected`));
    }
  });
});

describe("any answer and any item", () => {
  it("is read with an id in the form of events, or refused with the setting's name", () => {
    const item = fc.oneof(fc.jsonValue(), fc.record({ id: fc.jsonValue(), connected: fc.jsonValue() }));
    const answer = fc.oneof(fc.array(item), fc.record({ data: fc.array(item), next: fc.jsonValue() }), item);
    fc.assert(
      fc.property(answer, (value) => {
        try {
          const { items } = readSlice(readers.accounts, dataIn(JSON.stringify(value)), provider.paging);
          for (const one of items) expect(account(one).id).toMatch(/^[0-9a-f-]{36}$/);
        } catch (error) {
          if (!(error instanceof FailureError)) throw error;
          expect(error.failure).toMatchObject({
            type: "permanent",
            reason: expect.stringMatching(/^(reconcile|provider)\.\S+: /),
          });
        }
      }),
      { numRuns: 500 },
    );
  });
});
