import { describe, expect, it } from "vitest";
import { preparing } from "../../../cli/dead-letters/prepare.ts";
import { readTask, readTaskText } from "../../../domain/fetch/tasks.ts";

const task = readTask({ kind: "account", id: "a" }, { endpoint: "income" }, 1);
const progress = { noted: 1, from: { next: "c", pages: 3, mark: "m" }, kept: "k" };
const failed = JSON.stringify({ ...task, progress, attempts: 9, since: "2026-11-01T00:00:00.000Z" });

describe("what is sent in a dead letter's place", () => {
  it("is a task with its attempts reset, at the queue it came from", () => {
    expect(readTaskText(preparing("fetch")(failed))).toEqual({ ...task, progress });
  });

  it.each(["no JSON", "{}", '{"schemaVersion":9}'])("is what lies there where it is no task: %s", (body) => {
    expect(preparing("fetch")(body)).toBe(body);
  });

  it("is what lies there for any other queue", () => {
    expect(preparing("users")(failed)).toBe(failed);
  });
});
