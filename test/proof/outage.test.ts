import fc from "fast-check";
import { expect, it } from "vitest";
import { assessTasks, mostInAnyMinute } from "../../proof/outage/count.ts";

const served = new Map<string, unknown>([
  ["a/income", { revision: 2, data: [{ id: "1" }] }],
  ["a/trips", { revision: 1, data: [] }],
]);
const stored = new Map([
  ["a/income", '{"data":[{"id":"1"}],"revision":2}'],
  ["a/trips", '{"revision":1,"data":[]}'],
]);
const differs = "a/income is another than the provider's";

it.each([
  ["what is served is stored", stored, ["a/income", "a/trips"], [], { done: 2, lost: [] }],
  ["it is not fetched", stored, ["a/trips"], [], { done: 1, lost: ["a/income is missing"] }],
  [
    "it is older",
    new Map([...stored, ["a/income", '{"revision":1,"data":[{"id":"1"}]}']]),
    ["a/income", "a/trips"],
    [],
    { done: 1, lost: [differs] },
  ],
  ["it is a dead letter", stored, ["a/trips"], ["a/income"], { done: 1, lost: [] }],
])(
  "an outage counts tasks as done, lost or given up, if %s",
  (...[, contents, fetched, letters, counted]) => {
    expect(assessTasks(served, { data: new Set(fetched), contents }, new Set(letters))).toEqual(counted);
  },
);

it("the most calls in any minute are what counting from each call finds, in any order (law)", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 60 }), (times) => {
      const fromEach = times.map(
        (start) => times.filter((time) => time >= start && time < start + 60_000).length,
      );
      expect(mostInAnyMinute(times)).toBe(Math.max(0, ...fromEach));
    }),
  );
});
