import { describe, expect, it } from "vitest";
import { assessTasks } from "../../../proof/outage/count.ts";

const served = new Map<string, unknown>([
  ["a/income", { revision: 2, data: [{ id: "1" }] }],
  ["a/trips", { revision: 1, data: [] }],
]);
const contents = new Map([
  ["a/income", '{"data":[{"id":"1"}],"revision":2}'],
  ["a/trips", '{"revision":1,"data":[]}'],
]);
const data = new Set(["a/income", "a/trips"]);

describe("a task", () => {
  it("is done where what the provider serves is stored and marked as fetched", () => {
    expect(assessTasks(served, { data, contents }, new Set())).toEqual({ done: 2, lost: [] });
  });

  it("is lost where its data was not fetched, or not since it was requested", () => {
    const table = { data: new Set(["a/trips"]), contents };
    expect(assessTasks(served, table, new Set())).toEqual({ done: 1, lost: ["a/income is not fetched"] });
  });

  it.each([
    ["older", '{"revision":1,"data":[{"id":"1"}]}'],
    ["less", '{"revision":2,"data":[]}'],
  ])("is lost where what is stored is %s than what the provider serves", (_, content) => {
    const table = { data, contents: new Map([...contents, ["a/income", content]]) };
    expect(assessTasks(served, table, new Set())).toEqual({
      done: 1,
      lost: ["a/income differs from what the provider serves"],
    });
  });

  it("is lost where no content is stored", () => {
    const { lost } = assessTasks(served, { data, contents: new Map() }, new Set());
    expect(lost).toHaveLength(2);
  });

  it("is neither done nor lost where it is a dead letter", () => {
    const table = { data: new Set(["a/trips"]), contents };
    expect(assessTasks(served, table, new Set(["a/income"]))).toEqual({ done: 1, lost: [] });
  });
});
