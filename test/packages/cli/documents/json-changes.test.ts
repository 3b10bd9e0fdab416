import { expect, it } from "vitest";
import { losslessValue } from "../../../../domain/event/lossless-json.ts";
import { jsonChanges } from "../../../../packages/cli/documents/document-get.ts";

const changesOf = (before: string, after: string): unknown =>
  JSON.parse(JSON.stringify(jsonChanges(losslessValue(before), losslessValue(after))));

it.each([
  [
    "a member that changed, with its path",
    '{"data":[{"net":"10.00","tax":"1.00"}]}',
    '{"data":[{"net":"12.00","tax":"1.00"}]}',
    [{ path: "data[0].net", is: "changed", before: "10.00", after: "12.00" }],
  ],
  [
    "members that came and went",
    '{"a":1,"odd name":null}',
    '{"a":1,"b":{"c":2}}',
    [
      { path: "b", is: "added", after: { c: 2 } },
      { path: '["odd name"]', is: "removed", before: null },
    ],
  ],
  [
    "elements by their ids, wherever they stand",
    '[{"id":"x","n":1},{"id":"y","n":2}]',
    '[{"id":"z","n":3},{"id":"y","n":5},{"id":"x","n":1}]',
    [
      { path: "[0]", is: "added", after: { id: "z", n: 3 } },
      { path: "[1].n", is: "changed", before: 2, after: 5 },
    ],
  ],
  [
    "an element that is gone, by its place in what came before",
    '[{"id":"x"},{"id":"y"}]',
    '[{"id":"x"}]',
    [{ path: "[1]", is: "removed", before: { id: "y" } }],
  ],
  [
    "one change where elements without ids begin with one more",
    "[1,2,3]",
    "[0,1,2,3]",
    [{ path: "[0]", is: "added", after: 0 }],
  ],
  [
    "places where an id comes twice",
    '[{"id":"x","n":1},{"id":"x","n":2}]',
    '[{"id":"x","n":1},{"id":"x","n":3}]',
    [{ path: "[1].n", is: "changed", before: 2, after: 3 }],
  ],
  ["another type", '{"a":[1]}', '{"a":"1"}', [{ path: "a", is: "changed", before: [1], after: "1" }]],
  ["a value that is the whole", "1", "null", [{ path: "", is: "changed", before: 1, after: null }]],
  ["nothing where only spaces and the order of members differ", '{"a":1,"b":2}', '{ "b": 2, "a": 1 }', []],
])("reports %s", (_, before, after, expected) => {
  expect(changesOf(before, after)).toEqual(expected);
});

it("keeps the digits of numbers that no double holds, and sees that the last one changed", () => {
  const [change] = jsonChanges(
    losslessValue('{"n":9007199254740993}'),
    losslessValue('{"n":9007199254740992}'),
  );
  expect(JSON.stringify(change)).toBe(
    '{"path":"n","is":"changed","before":9007199254740993,"after":9007199254740992}',
  );
});

it("tells an object with the name of a number's own member from a number", () => {
  expect(changesOf('{"n":{"rawJSON":"1"}}', '{"n":1}')).toEqual([
    { path: "n", is: "changed", before: { rawJSON: "1" }, after: 1 },
  ]);
});
