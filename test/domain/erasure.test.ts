import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addRemoved,
  type EraseTask,
  eraseCauses,
  eraseSteps,
  eraseTask,
  lateArrival,
  readEraseTask,
  subjectsIn,
  writeEraseTask,
} from "../../domain/erasure.ts";
import type { IncomeEvent } from "../../domain/events.ts";
import type { Subject } from "../../domain/subjects.ts";

const subject: fc.Arbitrary<Subject> = fc.record({
  kind: fc.constantFrom("user", "account", "company-account"),
  id: fc.string({ minLength: 1 }),
});
const task: fc.Arbitrary<EraseTask> = fc
  .record({
    schemaVersion: fc.constant(1 as const),
    subject,
    namedWith: fc.array(subject),
    cause: fc.constantFrom(...eraseCauses),
    pass: fc.constantFrom(1 as const, 2 as const),
    next: fc.constantFrom(...eraseSteps),
    erased: fc.array(subject),
    isThorough: fc.boolean(),
    removed: fc.dictionary(fc.constantFrom("events", "data"), fc.nat()),
    incomplete: fc.array(fc.constantFrom("users", "fetch")),
  })
  .chain((fields) => fc.constantFrom(fields, { ...fields, id: "one" }));

describe("an erase task", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(task, (each) => {
        expect(readEraseTask(writeEraseTask(each))).toEqual(each);
      }),
    );
  });

  it.each<[string, object]>([
    ["schemaVersion: 3 is of a later release", { schemaVersion: 3 }],
    ["cause: expected one of operator", { cause: "whim" }],
    ["next: expected one of subjects", { next: "all" }],
    ["subject.kind", { subject: { kind: "endpoint", id: "x" } }],
    ["namedWith: expected a list", { namedWith: "x" }],
    ["events: expected a number", { removed: { events: "many" } }],
  ])("is refused with its reason: %s", (reason, change) => {
    const text = JSON.stringify({ ...eraseTask({ kind: "user", id: "u" }, "operator"), ...change });
    expect(() => readEraseTask(text)).toThrow(reason);
  });
});

describe("what was removed", () => {
  const removed = fc.dictionary(fc.constantFrom("events", "data", "bodies"), fc.nat(1000));
  it("is summed up by kind, in whatever order", () => {
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
  const change = { of: "event", event, receipts: 1 } as const;
  const [user, company]: readonly Subject[] = [
    { kind: "user", id: "u" },
    { kind: "company-account", id: "c" },
  ];

  it("speaks of everyone whom it names, each once", () => {
    expect(subjectsIn(change)).toEqual([user, company]);
    expect(subjectsIn({ ...change, event: { ...event, accountId: "a" } })).toContainEqual({
      kind: "account",
      id: "a",
    });
  });

  it("arrives late where one of them is erased; with a user goes what it names", () => {
    expect(lateArrival(change, new Set())).toBeUndefined();
    expect(lateArrival(change, new Set(["account/u"]))).toBeUndefined();
    expect(lateArrival(change, new Set(["company-account/c"]))).toMatchObject({
      subject: company,
      namedWith: [user],
    });
    expect(lateArrival(change, new Set(["user/u", "company-account/c"]))).toMatchObject({
      subject: user,
      namedWith: [company],
    });
  });
});
