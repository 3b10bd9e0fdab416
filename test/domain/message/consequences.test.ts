import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { fetched, requestFetch } from "../../../domain/fetch/document.ts";
import { fetchStateTask, readTask, readTaskText, writeTask } from "../../../domain/fetch/tasks.ts";
import { type Consequence, consequencesOf } from "../../../domain/message/consequences.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, accountId, applied, at, eventChange, eventOf, minute, userId } from "../samples.ts";

const source = "urn:test";
const connected = eventOf("account.connected", { userId });
const disconnected = eventOf("account.disconnected");
const updated = eventOf("endpoint.updated", { endpoint: "income", userId, dataAvailable: true });

const ofEvent = (event: IncomeEvent, receipts = 1) => consequencesOf(eventChange(event, receipts), source);
const ofState = (before: State | undefined, after: State) =>
  consequencesOf({ of: "state", before, after }, source);

function next(state: State | undefined, event: IncomeEvent, receipts = 1): State {
  const after = applyEvent(state, event, receipts);
  if (after === undefined) throw new Error("nothing changed");
  return after;
}

const tasksOf = (list: readonly Consequence[]) =>
  list.flatMap((consequence) => (consequence.do === "call" ? [consequence.task.task] : []));
const messagesOf = (list: readonly Consequence[]) =>
  list.flatMap((consequence) => (consequence.do === "publish" ? [consequence.message] : []));

describe("a receipt of an event", () => {
  it("is processed, of a user, an account or a company account", () => {
    const company = eventOf("company-account.created", { companyAccountId: "c", accountId: "unused" });
    const user = eventOf("user.created", { userId, kind: "users" });
    expect(ofEvent(connected, 3)).toEqual([
      { do: "applyEvent", subject: account, event: connected, receipts: 3 },
    ]);
    expect(ofEvent(company)).toMatchObject([
      { do: "applyEvent", subject: { kind: "company-account", id: "c" } },
    ]);
    expect(ofEvent(user)).toMatchObject([{ do: "applyEvent", subject: { kind: "user", id: userId } }]);
  });

  it("is processed as the first and as the last where several came at once", () => {
    expect(consequencesOf(eventChange(connected, 3, 0), source)).toMatchObject([
      { do: "applyEvent", receipts: 1 },
      { do: "applyEvent", receipts: 3 },
    ]);
  });

  it("of an endpoint wants its data", () => {
    expect(ofEvent(updated, 2)).toEqual([
      { do: "requestFetch", subject: account, endpoint: "income", event: updated, receipts: 2 },
    ]);
  });

  it("of an endpoint without a name is refused", () => {
    expect(() => ofEvent(eventOf("endpoint.updated"))).toThrow("event.endpoint: missing");
  });
});

describe("a change of a state", () => {
  it("that left the version alone has no consequences", () => {
    const state = applied([connected]);
    expect(ofState(state, state)).toEqual([]);
  });

  it("starts a fetch when an account becomes connected, and only then", () => {
    const created = applied([eventOf("account.created")]);
    const on = next(created, connected);
    expect(tasksOf(ofState(undefined, applied([connected])))).toEqual(["start"]);
    expect(tasksOf(ofState(created, on))).toEqual(["start"]);
    expect(tasksOf(ofState(undefined, created))).toEqual([]);
    expect(tasksOf(ofState(on, next(on, eventOf("account.updated", { connected: true }))))).toEqual([]);
    expect(tasksOf(ofState(undefined, applied([disconnected])))).toEqual([]);
    const timed = (type: "connected" | "disconnected" | "deleted", time: number) =>
      eventOf(`account.${type}`, { time: minute(time) });
    const off = applied([timed("connected", 1), timed("disconnected", 2)]);
    expect(tasksOf(ofState(off, next(off, timed("connected", 3))))).toEqual(["start"]);
    const gone = applied([timed("connected", 1)]);
    expect(tasksOf(ofState(gone, next(gone, timed("deleted", 3))))).toEqual([]);
  });

  it("starts nothing for an account that is deleted, though all that was before is unknown", () => {
    const gone = applyProviderAnswer(
      applied([connected, eventOf("account.deleted")]),
      2,
      { found: false },
      { at },
    );
    expect(gone).toMatchObject({ connected: true, deleted: true });
    expect(gone && tasksOf(ofState(undefined, gone))).toEqual([]);
  });

  it("starts a fetch when the provider's answer says that it is connected", () => {
    const waiting = applied([disconnected, connected]);
    const answered = applyProviderAnswer(waiting, 2, { found: true, connected: true }, { at });
    expect(answered && tasksOf(ofState(waiting, answered))).toEqual(["start"]);
  });

  it("asks the provider whenever it is unconfirmed, for the version that is, and never else", () => {
    const known = applied([connected]);
    const waiting = next(known, disconnected);
    expect(ofState(known, waiting)).toContainEqual({
      do: "call",
      task: fetchStateTask(account, 2, disconnected.id),
    });
    const again = next(waiting, disconnected, 2);
    expect(ofState(waiting, again)).toMatchObject([{ do: "call", task: { task: "ask", version: 3 } }]);
    const answered = applyProviderAnswer(again, 3, { found: true, connected: false }, { at });
    expect(answered && tasksOf(ofState(again, answered))).toEqual([]);
  });

  it("links an account to its user once, when the user becomes known", () => {
    const link = { do: "link", userId, accountId };
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
      expect(ofState(undefined, applied([event])).map((consequence) => consequence.do)).not.toContain("link");
    }
  });

  it("is published once for each event and answer, and not for bytes that came again", () => {
    const known = applied([connected]);
    const waiting = next(known, disconnected);
    expect(messagesOf(ofState(known, waiting))).toHaveLength(1);
    expect(messagesOf(ofState(waiting, next(waiting, disconnected, 2)))).toEqual([]);
  });
});

describe("a change of a document", () => {
  const ofData = (before: ReturnType<typeof requestFetch>, after: ReturnType<typeof requestFetch>) => {
    if (after === undefined) throw new Error("nothing changed");
    return consequencesOf({ of: "data", before, after }, source);
  };
  const take = (before: ReturnType<typeof requestFetch>, event: IncomeEvent, receipts = 1) =>
    requestFetch(before, account, { endpoint: "income" }, { event, receipts });
  const requested = take(undefined, updated);

  it("is read when more is requested, and only then", () => {
    expect(ofData(undefined, requested)).toContainEqual({
      do: "call",
      task: readTask(account, { endpoint: "income" }, 1, updated.id),
    });
    expect(tasksOf(ofData(requested, take(requested, updated, 2)))).toEqual(["read"]);
    expect(tasksOf(ofData(requested, requested && fetched(requested, 1, "digest", { at })))).toEqual([]);
    const empty = eventOf("endpoint.updated", { endpoint: "income", dataAvailable: false });
    expect(tasksOf(ofData(undefined, take(undefined, empty)))).toEqual([]);
    expect(tasksOf(ofData(requested, take(requested, empty)))).toEqual([]);
    expect(ofData(requested, requested)).toEqual([]);
  });

  it("is published where data is new, and not where it is the same", () => {
    const first = requested && fetched(requested, 1, "digest", { at });
    const second = take(first, updated, 2);
    expect(messagesOf(ofData(requested, first))).toMatchObject([{ type: "data.updated" }]);
    expect(messagesOf(ofData(second, second && fetched(second, 2, "digest", { at })))).toEqual([]);
    expect(messagesOf(ofData(second, second && fetched(second, 2, "other", { at })))).toHaveLength(1);
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
      list.push({ of: "state", before: known, after });
      known = after;
    }
    return list;
  });

  it("are a pure function of the change: a replay gives the same tasks and messages with the same ids", () => {
    fc.assert(
      fc.property(changes, (list) => {
        for (const change of list) {
          const copy = structuredClone(change);
          expect(consequencesOf(copy, source)).toEqual(consequencesOf(change, source));
          expect(copy).toEqual(change);
        }
      }),
    );
  });

  it("link an account to one user at most, ask exactly while unconfirmed, and have ids that are one each", () => {
    fc.assert(
      fc.property(changes, (list) => {
        const all = list.map((change) => ({ change, consequences: consequencesOf(change, source) }));
        const flat = all.flatMap(({ consequences }) => consequences);
        expect(flat.filter((one) => one.do === "link").length).toBeLessThanOrEqual(1);
        for (const { change, consequences } of all) {
          const isAsking = tasksOf(consequences).includes("ask");
          expect(isAsking).toBe(change.of === "state" && change.after.unconfirmed);
        }
        const messages = messagesOf(flat);
        expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
        const sequences = messages.map(({ sequence }) => sequence);
        expect(sequences).toEqual([...sequences].sort());
      }),
    );
  });

  it("that are tasks are read from their queue as they were written", () => {
    fc.assert(
      fc.property(changes, fc.nat(), (list, attempts) => {
        for (const consequence of list.flatMap((change) => consequencesOf(change, source))) {
          if (consequence.do !== "call") continue;
          const task = { ...consequence.task, attempts };
          expect(readTaskText(writeTask(task))).toEqual(task);
        }
      }),
    );
  });
});
