import { describe, expect, it } from "vitest";
import {
  deduplicationOf,
  documentTask,
  fetchTaskMessage,
  groupOf,
  isOfReceipt,
  mergeTasks,
  readTask,
  receiptCause,
  reservedSecondsOf,
  stateTask,
  taskName,
  writeTask,
} from "../../../domain/fetch/task.ts";
import { account } from "../samples.ts";

const income = { endpoint: "income" };
const taskOf = (since: number, event: string, name = income, receipt = 1) =>
  documentTask(account, name, since, { cause: receiptCause(event, receipt), correlationId: event });

describe("tasks of one document", () => {
  it.each([
    ["first", [taskOf(2, "a"), taskOf(1, "b")]],
    ["last", [taskOf(1, "b"), taskOf(2, "a")]],
  ])("merge into the one with the greatest since, which stands %s", (_, tasks) => {
    expect(mergeTasks(tasks)).toEqual([taskOf(2, "a")]);
  });

  it("with the same since merge into the same one in any order", () => {
    const [one, other] = [taskOf(1, "a"), taskOf(1, "b")];
    expect(mergeTasks([one, other])).toEqual(mergeTasks([other, one]));
  });

  it("share a group, whatever caused them", () => {
    expect(groupOf(taskOf(1, "a"))).toBe(groupOf(taskOf(2, "b")));
  });

  it("differ in their deduplication ids by event and by receipt", () => {
    const ids = [taskOf(1, "a"), taskOf(1, "b"), taskOf(1, "a", income, 2)].map((task) =>
      deduplicationOf(task),
    );
    expect(new Set(ids).size).toBe(3);
  });

  it("keep their deduplication id when they are sent again, unless a dead letter is redriven", () => {
    const task = taskOf(1, "a");
    expect(deduplicationOf(taskOf(1, "a"))).toBe(deduplicationOf(task));
    expect(deduplicationOf(task, "one")).not.toBe(deduplicationOf(task));
    expect(deduplicationOf(task, "one")).not.toBe(deduplicationOf(task, "another"));
  });
});

describe("tasks of different documents, and of different kinds", () => {
  const tasks = [
    taskOf(1, "a"),
    taskOf(1, "a", { endpoint: "income/2026-01-01..2026-01-31" }),
    documentTask(account, { ...income, range: { start: "2026-01-01", end: "2026-01-31" } }, 1, {
      cause: "a.1",
    }),
    documentTask({ kind: "company-account", id: account.id }, income, 1, { cause: "a.1" }),
    stateTask("startFetch", account, 1, {}),
    stateTask("fetchState", account, 1, {}),
  ];

  it("are not merged, and share no group and no deduplication id", () => {
    expect(mergeTasks(tasks)).toEqual(tasks);
    expect(new Set(tasks.map(groupOf)).size).toBe(tasks.length);
    expect(new Set(tasks.map((task) => deduplicationOf(task))).size).toBe(tasks.length);
  });

  it("of a state share a group across its versions, and are merged if they are equal", () => {
    const [one, other] = [stateTask("fetchState", account, 1, {}), stateTask("fetchState", account, 2, {})];
    expect(groupOf(one)).toBe(groupOf(other));
    expect(mergeTasks([one, other, one])).toEqual([one, other]);
  });

  it("have groups and deduplication ids that SQS accepts, however long their ids are", () => {
    const long = documentTask({ kind: "account", id: "ä/#".repeat(1_000) }, income, 1, { cause: "a.1" });
    for (const id of [groupOf(long), deduplicationOf(long, "dead letter")]) expect(id).toMatch(/^[\w-]{43}$/);
  });
});

describe("a task as the text of a message", () => {
  const ids = { correlationId: "a", userId: "u" };
  const started = stateTask("startFetch", account, 3, ids);

  it.each([
    ["of a document", documentTask(account, income, 1, { cause: "a.1", ...ids })],
    [
      "of a range of dates",
      documentTask(account, { ...income, range: { start: "2026-01-01", end: "2026-01-31" } }, 1, {
        cause: "a.1",
      }),
    ],
    ["of a start", started],
    ["of a start's check", { ...started, type: "verifyStart" as const }],
    ["of a state", stateTask("fetchState", account, 1, {})],
  ])("is parsed as it was written: one %s", (_, task) => {
    expect(readTask(writeTask(task))).toEqual(task);
    const message = { body: writeTask(task), group: groupOf(task), deduplication: deduplicationOf(task) };
    expect(fetchTaskMessage(task)).toEqual(message);
  });

  it.each<[string, object]>([
    ["type", { type: "fetchPage" }],
    ["subject", { subject: undefined }],
    ["cause", { cause: "" }],
    ["endpoint", { endpoint: undefined }],
    ["since", { since: "1" }],
    ["schemaVersion", { schemaVersion: 0 }],
    ["version", { type: "startFetch" }],
  ])("is refused by the invalid field: %s", (field, fault) => {
    expect(() => readTask(JSON.stringify({ ...taskOf(1, "a"), ...fault }))).toThrow(`${field}: expected`);
  });

  it("is refused if it is no JSON or no object", () => {
    expect(() => readTask("{")).toThrow("the task is not JSON");
    expect(() => readTask("[]")).toThrow("the task: expected an object");
  });
});

describe("a task for an operator", () => {
  it.each([
    ["fetchDocument", "document fetch"],
    ["startFetch", "fetch start"],
    ["fetchState", "state fetch"],
    ["verifyStart", "start check"],
    ["fetchPage", "fetchPage"],
    ["toString", "toString"],
  ])("of type %s is a %s, and keeps its type's name if only a later release knows it", (type, name) => {
    expect(taskName(type)).toBe(name);
  });
});

it.each([
  ["a receipt", receiptCause("e", 2), "e", true],
  ["a check of a start", "check.e.2", "e", false],
  ["another event", "ee.2", "e", false],
  ["an operator", "e.2", undefined, false],
])(
  "a task follows from a webhook's receipt or not: one caused by %s",
  (_, cause, correlationId, isReceipt) => {
    expect(isOfReceipt(documentTask(account, income, 1, { cause, correlationId }))).toBe(isReceipt);
  },
);

it("a function reserves a tenth of its time for what follows its last call, at least a second", () => {
  expect([5, 10, 60].map(reservedSecondsOf)).toEqual([1, 1, 6]);
});
