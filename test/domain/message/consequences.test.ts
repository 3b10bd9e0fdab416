import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { documentTask, stateTask } from "../../../domain/fetch/task.ts";
import { type Consequence, consequencesOf, userOf } from "../../../domain/message/consequences.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import {
  account,
  accountId,
  applied,
  at,
  documentRead,
  eventChange,
  eventOf,
  minute,
  receiptsOf,
  userId,
} from "../samples.ts";

const settings = { source: "urn:test", readByRange: [], documentsUrl: "https://reads.example/" };
const connected = eventOf("account.connected", { userId });
const disconnected = eventOf("account.disconnected");
const updated = eventOf("endpoint.updated", { endpoint: "income", userId, dataAvailable: true });

const ofEvent = (event: IncomeEvent, receipts = 1) => consequencesOf(eventChange(event, receipts), settings);
const ofState = (before: State | undefined, after: State) =>
  consequencesOf({ type: "state", before, after }, settings);

function next(state: State | undefined, event: IncomeEvent, receipts = 1): State {
  const after = applyEvent(state, event, receipts);
  if (after === undefined) throw new Error("nothing changed");
  return after;
}

const tasksOf = (list: readonly Consequence[]) =>
  list.flatMap((consequence) => (consequence.type === "call" ? [consequence.task.type] : []));
const messagesOf = (list: readonly Consequence[]) =>
  list.flatMap((consequence) => (consequence.type === "publish" ? [consequence.message] : []));

describe("a receipt of an event", () => {
  it("is processed, of a user, an account or a company account", () => {
    const company = eventOf("company-account.created", { companyAccountId: "c", accountId: "unused" });
    const user = eventOf("user.created", { userId, kind: "users" });
    expect(ofEvent(connected, 3)).toEqual([
      { type: "applyEvent", subject: account, event: connected, receipts: 3, since: 3 },
    ]);
    expect(ofEvent(company)).toMatchObject([
      { type: "applyEvent", subject: { kind: "company-account", id: "c" } },
    ]);
    expect(ofEvent(user)).toMatchObject([{ type: "applyEvent", subject: { kind: "user", id: userId } }]);
  });

  it("is processed as the first and as the last if several came at once", () => {
    expect(consequencesOf(eventChange(connected, 3, 0), settings)).toMatchObject([
      { type: "applyEvent", receipts: 1, since: 1 },
      { type: "applyEvent", receipts: 3, since: 3 },
    ]);
  });

  it("has no effect if the write counted none", () => {
    expect(consequencesOf(eventChange(connected, 2, 2), settings)).toEqual([]);
  });
});

describe("a receipt of an endpoint's event", () => {
  const income = { endpoint: "income" };
  const taskAfter = (receipt: number, name = income) =>
    documentTask(account, name, receipt, {
      cause: `${updated.id}.${receipt}`,
      correlationId: updated.id,
      userId,
    });

  it("is announced, and has its document read since it was received, with no write of the table", () => {
    const message = expect.objectContaining({ id: updated.id, type: "endpoint.updated" });
    expect(ofEvent(updated)).toEqual([
      { type: "call", task: taskAfter(1) },
      { type: "publish", message },
    ]);
  });

  it("that repeats reads its document again, and announces nothing", () => {
    expect(ofEvent(updated, 2)).toEqual([{ type: "call", task: taskAfter(2) }]);
  });

  it("that repeats within a batch is announced once, and read since the last one", () => {
    expect(consequencesOf(eventChange(updated, 3, 0), settings)).toMatchObject([
      { type: "call", task: { since: receiptsOf(3).since, cause: `${updated.id}.3` } },
      { type: "publish", message: { id: updated.id } },
    ]);
  });

  it("reads nothing if it announces that no data is available yet", () => {
    const empty = eventOf("endpoint.updated", { endpoint: "income", dataAvailable: false });
    expect(ofEvent(empty).map((consequence) => consequence.type)).toEqual(["publish"]);
    expect(ofEvent(empty, 2)).toEqual([]);
  });

  it("is read by dates only if the settings say so for its kind and endpoint", () => {
    const dated = { ...updated, dateStart: "2026-01-01", dateEnd: "2026-01-31" };
    const rangesReadBy = (readByRange: readonly string[], event: IncomeEvent = dated) =>
      consequencesOf(eventChange(event), { ...settings, readByRange }).flatMap((each) =>
        each.type === "call" && each.task.type === "fetchDocument" ? [each.task.range] : [],
      );
    expect(rangesReadBy(["account/income"])).toEqual([{ start: "2026-01-01", end: "2026-01-31" }]);
    expect(rangesReadBy(["account/activity", "company-account/income"])).toEqual([undefined]);
    const { dateEnd: _, ...half } = dated;
    expect(rangesReadBy(["account/income"], half)).toEqual([undefined]);
  });

  it("without a name is refused", () => {
    for (const receipts of [1, 2])
      expect(() => ofEvent(eventOf("endpoint.updated"), receipts)).toThrow("event.endpoint: missing");
  });
});

describe("a change of a state", () => {
  it("starts a fetch when an account becomes connected, and only then", () => {
    const created = applied([eventOf("account.created")]);
    const on = next(created, connected);
    expect(tasksOf(ofState(undefined, applied([connected])))).toEqual(["startFetch"]);
    expect(tasksOf(ofState(created, on))).toEqual(["startFetch"]);
    expect(tasksOf(ofState(undefined, created))).toEqual([]);
    expect(tasksOf(ofState(on, next(on, eventOf("account.updated", { connected: true }))))).toEqual([]);
    expect(tasksOf(ofState(undefined, applied([disconnected])))).toEqual([]);
    const timed = (type: "connected" | "disconnected" | "deleted", time: number) =>
      eventOf(`account.${type}`, { time: minute(time) });
    const off = applied([timed("connected", 1), timed("disconnected", 2)]);
    expect(tasksOf(ofState(off, next(off, timed("connected", 3))))).toEqual(["startFetch"]);
    const gone = applied([timed("connected", 1)]);
    expect(tasksOf(ofState(gone, next(gone, timed("deleted", 3))))).toEqual([]);
  });

  it("starts nothing for a deleted account, even if its earlier state is unknown", () => {
    const gone = applyProviderAnswer(
      applied([connected, eventOf("account.deleted")]),
      2,
      { found: false },
      { at },
    );
    expect(gone).toMatchObject({ connected: true, deleted: true });
    expect(gone && tasksOf(ofState(undefined, gone))).toEqual([]);
  });

  it("starts a fetch and asks when a connected account is restored: its data may have changed meanwhile", () => {
    const gone: State = {
      ...applied([connected]),
      ...{ deleted: true, deletionBy: "reconciliation" },
    };
    const restored = next(gone, eventOf("account.restored", { reconciled: true }));
    const following = ofState(gone, restored);
    expect(tasksOf(following)).toEqual(["startFetch", "fetchState"]);
    expect(messagesOf(following)).toMatchObject([
      { type: "account.restored", data: { deleted: false, unconfirmed: true } },
    ]);
  });

  it("starts a fetch when the provider's answer begins a connection", () => {
    const tasksAfter = (events: readonly IncomeEvent[], followsConnections: boolean) => {
      const waiting = events.reduce<State | undefined>((state, event, index) => {
        return applyEvent(state, event, 1, { since: index + 1, followsConnections });
      }, undefined);
      const answered = applyProviderAnswer(waiting, 2, { found: true, connected: true }, { at });
      return answered && tasksOf(ofState(waiting, answered));
    };
    expect(tasksAfter([disconnected, connected], false)).toEqual(["startFetch"]);
    // With readiness, an interruption ends the previous connection.
    expect(tasksAfter([connected, disconnected], true)).toEqual(["startFetch"]);
    expect(tasksAfter([connected, disconnected], false)).toEqual([]);
  });

  it("calls the provider for each unconfirmed version, and for no other", () => {
    const known = applied([connected]);
    const waiting = next(known, disconnected);
    expect(ofState(known, waiting)).toContainEqual({
      type: "call",
      task: stateTask("fetchState", account, 2, { userId, correlationId: disconnected.id }),
    });
    const again = next(waiting, disconnected, 2);
    expect(ofState(waiting, again)).toMatchObject([
      { type: "call", task: { type: "fetchState", version: 3 } },
    ]);
    const answered = applyProviderAnswer(again, 3, { found: true, connected: false }, { at });
    expect(answered && tasksOf(ofState(again, answered))).toEqual([]);
  });

  it("links an account to its user once, as soon as the user is known", () => {
    const link = { type: "link", userId, accountId };
    const first = applied([eventOf("account.created")]);
    const second = next(first, connected);
    expect(ofState(undefined, first)).not.toContainEqual(link);
    expect(ofState(first, second)).toContainEqual(link);
    expect(ofState(second, next(second, eventOf("account.updated", { userId })))).not.toContainEqual(link);
    expect(ofState(undefined, applied([connected]))).toContainEqual(link);
  });

  it("links neither users nor company accounts", () => {
    const company = eventOf("company-account.connected", { companyAccountId: "c", userId });
    const user = eventOf("user.created", { userId });
    for (const event of [company, user]) {
      expect(ofState(undefined, applied([event])).map((consequence) => consequence.type)).not.toContain(
        "link",
      );
    }
  });

  it("is published once for each event and answer, and not for repeated bytes", () => {
    const known = applied([connected]);
    const waiting = next(known, disconnected);
    expect(messagesOf(ofState(known, waiting))).toHaveLength(1);
    expect(messagesOf(ofState(waiting, next(waiting, disconnected, 2)))).toEqual([]);
  });
});

describe("an account's readiness", () => {
  const connection = applied([connected]);
  const awaited = { endpoints: ["income"], deadlineSeconds: 60 };
  const others = ["publish", "call", "link"];
  const followed = (change: Change, given: object = { readiness: awaited }) =>
    consequencesOf(change, { ...settings, ...given }).filter(({ type }) => !others.includes(type)).length > 0;

  it.each<[string, Partial<State>, boolean]>([
    ["a new version alone", { version: 9 }, false],
    ["another source", { datasourceId: "d" }, false],
    ["a newer connection", { connection: { since: 9 } }, true],
    ["its end", { connected: false }, true],
    ["its deletion", { deleted: true }, true],
    ["a doubt about it", { unconfirmed: true }, true],
    ["its user", { userId: "another" }, true],
  ])("may change by a change of its state that is %s, or not", (_, facts, isFollowed) => {
    const change: Change = { type: "state", before: connection, after: { ...connection, ...facts } };
    expect(followed(change)).toBe(isFollowed);
    const company = { ...connection, ...facts, subject: { kind: "company-account", id: "c" } } as const;
    expect(followed({ ...change, after: company })).toBe(false);
  });

  it("may change by its first state, and not in a stage without readiness", () => {
    const change: Change = { type: "state", before: undefined, after: connection };
    expect([followed(change), followed(change, {})]).toEqual([true, false]);
  });

  it.each([
    ["awaited data", { endpoint: "income" }, true],
    [
      "awaited data of some days",
      { endpoint: "income", range: { start: "2026-01-01", end: "2026-01-31" } },
      false,
    ],
    ["other data", { endpoint: "trips" }, false],
  ])("may change by a document of %s, or not", (_, name, isFollowed) => {
    const after = documentRead(undefined, "one", { asOf: 1, name });
    expect(followed({ type: "document", before: undefined, after })).toBe(isFollowed);
  });
});

describe("a change of a document", () => {
  const ofDocument = (before: Document | undefined, after: Document) =>
    consequencesOf({ type: "document", before, after }, settings);
  const first = documentRead(undefined, "one", { asOf: 10 });

  it("is published once if its content is new, with the time of the call as its sequence", () => {
    expect(ofDocument(undefined, first)).toMatchObject([
      { type: "publish", message: { type: "data.updated", sequence: "00000000000000000010" } },
    ]);
    const same = documentRead(first, "one", { asOf: 20 });
    expect(ofDocument(first, same)).toEqual([]);
    expect(messagesOf(ofDocument(same, documentRead(same, "two", { asOf: 30 })))).toHaveLength(1);
  });

  it("is published if the content is gone, and not if there never was any", () => {
    expect(messagesOf(ofDocument(first, documentRead(first, undefined, { asOf: 20 })))).toHaveLength(1);
    expect(ofDocument(undefined, documentRead(undefined, undefined, { asOf: 10 }))).toEqual([]);
  });

  it("without an effect has no consequences", () => {
    expect(ofDocument(first, first)).toEqual([]);
  });
});

describe("the user whose account or data a change is about", () => {
  const [own, other] = [userId, "another"].map((id) => applied([eventOf("user.created", { userId: id })]));
  const accountOf = (id: string) => applied([eventOf("account.connected", { userId: id })]);
  const unowned = applied([eventOf("account.connected")]);
  const document = (id?: string) =>
    documentRead(undefined, "one", { asOf: 1, ...(id === undefined ? {} : { userId: id }) });
  const ofState = (after: State) => ({ type: "state", before: undefined, after }) as const;
  const ofDocument = (after: Document) => ({ type: "document", before: undefined, after }) as const;
  const userReadiness: Change = {
    ...{ type: "userReadiness", before: undefined },
    after: { subject: { kind: "user", id: userId }, version: 1, at: 1, accounts: [] },
  };

  it.each<[string, Change, State | undefined, State | undefined]>([
    ["an account's own state", ofState(accountOf(userId)), undefined, own],
    ["an account without a user", ofState(unowned), undefined, undefined],
    ["a user's own state", ofState(applied([eventOf("user.created", { userId })])), undefined, undefined],
    ["a user's event", eventChange(eventOf("user.updated", { userId })), undefined, undefined],
    ["an account's event, of an unknown account", eventChange(connected), undefined, own],
    ["data, of an account that is another's", ofDocument(document(userId)), accountOf("another"), other],
    ["data that names no user", ofDocument(document()), accountOf(userId), own],
    ["data of an account without a user", ofDocument(document(userId)), unowned, own],
    ["data of nobody", ofDocument(document()), unowned, undefined],
    ["a user's readiness", userReadiness, undefined, own],
  ])("is known to the account's state first: %s", async (_, change, ofAccount, expected) => {
    const load = async ({ kind, id }: Subject) => {
      if (kind === "account") return ofAccount;
      return id === userId ? own : other;
    };
    expect(await userOf(change, load)).toBe(expected);
  });

  it("is loaded once, together with the account, if the account has no other", async () => {
    const loaded: string[] = [];
    await userOf(eventChange(connected), async ({ kind }) => {
      loaded.push(kind);
      return kind === "account" ? accountOf(userId) : own;
    });
    expect(loaded).toEqual(["account", "user"]);
  });
});

describe("consequences", () => {
  const anyEvent = fc
    .record({
      type: fc.constantFrom(
        "account.created",
        "account.connected",
        "account.disconnected",
        "account.deleted",
      ),
      time: fc.option(fc.integer({ min: 0, max: 5 })),
      userId: fc.option(fc.constantFrom("u-1", "u-2")),
    } as const)
    .map(({ type, time, userId: user }) =>
      eventOf(type, {
        ...(time === null ? {} : { time: minute(time) }),
        ...(user === null ? {} : { userId: user }),
      }),
    );
  const changes = fc.array(anyEvent, { minLength: 1, maxLength: 12 }).map((events) => {
    const list: Change[] = [];
    let known: State | undefined;
    for (const event of events) {
      const after = applyEvent(known, event, 1);
      if (after === undefined) continue;
      list.push({ type: "state", before: known, after });
      known = after;
    }
    return list;
  });

  it("are a pure function of the change: a replay gives the same tasks and messages with the same ids", () => {
    fc.assert(
      fc.property(changes, (list) => {
        for (const change of list) {
          const copy = structuredClone(change);
          expect(consequencesOf(copy, settings)).toEqual(consequencesOf(change, settings));
          expect(copy).toEqual(change);
        }
      }),
    );
  });

  it("link an account to one user at most, ask exactly while unconfirmed, and have ids that are one each", () => {
    fc.assert(
      fc.property(changes, (list) => {
        const all = list.map((change) => ({ change, consequences: consequencesOf(change, settings) }));
        const flat = all.flatMap(({ consequences }) => consequences);
        expect(flat.filter((one) => one.type === "link").length).toBeLessThanOrEqual(1);
        for (const { change, consequences } of all) {
          const isAsking = tasksOf(consequences).includes("fetchState");
          expect(isAsking).toBe(change.type === "state" && change.after.unconfirmed);
        }
        const messages = messagesOf(flat);
        expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
        const sequences = messages.map(({ sequence }) => sequence);
        expect(sequences).toEqual([...sequences].sort());
      }),
    );
  });
});
