import { describe, expect, it } from "vitest";
import {
  deduplicationOf,
  documentTask,
  groupOf,
  mergeTasks,
  readTask,
  receiptCause,
  stateTask,
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
  });
});
