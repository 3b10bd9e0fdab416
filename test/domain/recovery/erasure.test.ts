import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { addRemoved, correlationOfErasure, withRefusal } from "../../../domain/recovery/erase-progress.ts";
import {
  type EraseTask,
  eraseCauses,
  eraseSteps,
  eraseTask,
  eraseTaskForLateData,
  erasureOnDeletion,
  readEraseTask,
  subjectsIn,
  writeEraseTask,
} from "../../../domain/recovery/erasure.ts";
import type { State } from "../../../domain/state/state.ts";
import { account, applied, documentRead, eventChange, eventOf, userId } from "../samples.ts";

const subject: fc.Arbitrary<Subject> = fc.record({
  kind: fc.constantFrom("user", "account", "company-account"),
  id: fc.string({ minLength: 1 }),
});
const task: fc.Arbitrary<EraseTask> = fc
  .record({
    schemaVersion: fc.constant(1 as const),
    subject,
    namedWith: fc.array(subject),
    claimed: fc.array(subject),
    cause: fc.constantFrom(...eraseCauses),
    pass: fc.constantFrom(1 as const, 2 as const),
    next: fc.constantFrom(...eraseSteps),
    erased: fc.array(subject),
    isThorough: fc.boolean(),
    removed: fc.dictionary(fc.constantFrom("events", "data"), fc.nat()),
    incomplete: fc.array(fc.constantFrom("users", "fetch")),
    refused: fc.subarray(["archived dead letters", "large bodies"] as const),
    searches: fc.nat(),
    isFound: fc.boolean(),
    isDryRun: fc.boolean(),
  })
  .chain((fields) =>
    fc.constantFrom(
      fields,
      { ...fields, id: "one" },
      { ...fields, isWaiting: true as const },
      { ...fields, lastBody: "bodies/users/a" },
    ),
  );

describe("an erase task", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(task, (each) => {
        expect(readEraseTask(writeEraseTask(each))).toEqual(each);
      }),
    );
  });
});

describe("an erase task that is begun", () => {
  const id = "0F8FAD5B-D9CB-469F-A165-70867728950E";

  it("names a UUID in lower case, and takes its subject for known unless an operator named it", () => {
    for (const cause of eraseCauses) {
      const begun = eraseTask({ kind: "user", id }, cause);
      expect(begun).toMatchObject({
        subject: { kind: "user", id: id.toLowerCase() },
        pass: 1,
        next: "subjects",
      });
      expect(begun.isFound).toBe(cause !== "operator");
      expect(readEraseTask(writeEraseTask(begun))).toEqual(begun);
    }
  });

  it("is linked in logs by the change that caused it, else by its report", () => {
    const byOperator = eraseTask(account, "operator", [], "report");
    expect(correlationOfErasure(byOperator)).toBe("report");
    expect(correlationOfErasure({ ...byOperator, correlationId: "event" })).toBe("event");
    expect(correlationOfErasure(eraseTask(account, "deleted"))).toBeUndefined();
  });

  it.each<[string, object]>([
    ["cause", { cause: "whim" }],
    ["next", { next: "the rest" }],
    ["namedWith", { namedWith: {} }],
    ["claimed", { claimed: undefined }],
    ["erased", { erased: "a" }],
    ["subject", { erased: ["a"] }],
    ["events", { removed: { events: "7" } }],
    ["searches", { searches: undefined }],
    ["schemaVersion", { schemaVersion: 0 }],
  ])("is refused by the invalid field: %s", (field, fault) => {
    const text = JSON.stringify({ ...eraseTask(account, "operator"), ...fault });
    expect(() => readEraseTask(text)).toThrow(`${field}: expected`);
  });

  it("of an earlier release has no counts and no refused objects", () => {
    const { removed: _, incomplete: __, refused: ___, ...earlier } = eraseTask(account, "operator");
    expect(readEraseTask(JSON.stringify(earlier))).toEqual(eraseTask(account, "operator"));
    const unknown = JSON.stringify({ ...earlier, refused: ["large bodies", "tapes"] });
    expect(readEraseTask(unknown).refused).toEqual(["large bodies"]);
  });
});

it.each([
  [[], true, ["large bodies"]],
  [["large bodies"], true, ["large bodies"]],
  [["large bodies", "undelivered changes"], false, ["undelivered changes"]],
  [["undelivered changes"], true, ["undelivered changes", "large bodies"]],
] as const)(
  "of %j, a step that reads large bodies and is refused (%s) leaves %j",
  (before, isRefused, after) => {
    expect(withRefusal(before, "large bodies", isRefused)).toEqual(after);
  },
);

describe("the count of removed records", () => {
  const removed = fc.dictionary(fc.constantFrom("events", "data", "bodies"), fc.nat(1000));
  it("is added up by kind, in any order", () => {
    fc.assert(
      fc.property(removed, removed, (one, other) => {
        expect(addRemoved(one, other)).toEqual(addRemoved(other, one));
        expect(addRemoved(one, other).events ?? 0).toBe((one.events ?? 0) + (other.events ?? 0));
      }),
    );
  });
});

describe("a change", () => {
  const event: IncomeEvent = {
    id: "e",
    kind: "company-accounts",
    type: "company-account.connected",
    userId: "u",
    companyAccountId: "c",
    receivedAt: "2026-11-21T12:00:00.000Z",
  };
  const change = eventChange(event);
  const [user, company]: readonly Subject[] = [
    { kind: "user", id: "u" },
    { kind: "company-account", id: "c" },
  ];

  it("is about each subject that it names, once", () => {
    expect(subjectsIn(change)).toEqual([user, company]);
    expect(subjectsIn({ ...change, event: { ...event, accountId: "a" } })).toContainEqual({
      kind: "account",
      id: "a",
    });
  });

  it("is late data if one of its subjects is erased; with a user, the subjects that it names are erased too", () => {
    expect(eraseTaskForLateData(change, new Set())).toBeUndefined();
    expect(eraseTaskForLateData(change, new Set(["account/u"]))).toBeUndefined();
    expect(eraseTaskForLateData(change, new Set(["company-account/c"]))).toMatchObject({
      subject: company,
      namedWith: [user],
    });
    expect(eraseTaskForLateData(change, new Set(["user/u", "company-account/c"]))).toMatchObject({
      subject: user,
      namedWith: [company],
    });
  });

  it("that announces data does not name the account's owner", () => {
    const data = { ...event, type: "endpoint.updated", endpoint: "income" } as const;
    expect(eraseTaskForLateData({ ...change, event: data }, new Set(["user/u"]))).toMatchObject({
      subject: user,
      namedWith: [company],
      claimed: [],
    });
    expect(eraseTaskForLateData(change, new Set(["user/u"]))).toMatchObject({ claimed: [company] });
  });

  it("of a state is about its subject, and the user that it belongs to", () => {
    const state = (facts: object) => applied([eventOf("account.connected", facts)]);
    expect(subjectsIn({ type: "state", before: undefined, after: state({}) })).toEqual([account]);
    expect(subjectsIn({ type: "state", before: undefined, after: state({ userId }) })).toEqual([
      account,
      { kind: "user", id: userId },
    ]);
  });

  it("of a document is about its account, and the user of the data", () => {
    const changeOf = (ids: { userId?: string }) =>
      ({
        type: "document",
        before: undefined,
        after: documentRead(undefined, "digest", { asOf: 1, ...ids }),
      }) as const;
    const owner = { kind: "user", id: userId } as const;
    expect(subjectsIn(changeOf({ userId }))).toEqual([account, owner]);
    expect(subjectsIn(changeOf({}))).toEqual([account]);
    const task = { subject: owner, namedWith: [account], claimed: [] };
    const erased = [`user/${userId}`, `${account.kind}/${account.id}`];
    expect(eraseTaskForLateData(changeOf({ userId }), new Set(erased.slice(0, 1)))).toMatchObject(task);
    // An erasure of the user includes the account.
    expect(eraseTaskForLateData(changeOf({ userId }), new Set(erased))).toMatchObject(task);
  });
});

describe("a deletion at the provider", () => {
  const ofUser = (deleted: boolean): State => ({
    ...applied([eventOf("account.connected")]),
    subject: { kind: "user", id: userId },
    deleted,
  });
  const change = (before: State | undefined, after: State) => ({ type: "state", before, after }) as const;

  it("of a user causes an erasure once it is confirmed", () => {
    const task = eraseTask({ kind: "user", id: userId }, "deleted");
    expect(erasureOnDeletion(change(ofUser(false), ofUser(true)))).toEqual(task);
    expect(erasureOnDeletion(change(undefined, ofUser(true)))).toEqual(task);
    expect(erasureOnDeletion(change(ofUser(true), ofUser(true)))).toBeUndefined();
    expect(erasureOnDeletion(change(undefined, ofUser(false)))).toBeUndefined();
  });

  it("that only reconciliation reported erases nobody: it can be reverted", () => {
    const found: State = { ...ofUser(true), deletionBy: "reconciliation" };
    expect(erasureOnDeletion(change(ofUser(false), found))).toBeUndefined();
  });

  it("of an account erases nobody, nor does a change of anything else", () => {
    expect(erasureOnDeletion(change(undefined, { ...ofUser(true), subject: account }))).toBeUndefined();
    const event = eventOf("account.deleted", { eventId: "e" });
    expect(erasureOnDeletion(eventChange(event))).toBeUndefined();
  });
});
