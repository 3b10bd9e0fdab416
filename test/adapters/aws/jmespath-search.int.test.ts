import { expect, test } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { FailureError } from "../../../domain/core/failures.ts";

const data = {
  items: [
    { id: "b", at: 2 },
    { id: "a", at: 1 },
  ],
};

test.each([
  ["length(items)", 2],
  ["sort_by(items, &at)[0].id", "a"],
  ["items[?starts_with(id, 'b')].at | [0]", 2],
  ["join('-', map(&id, items))", "b-a"],
  ["to_number('7')", 7],
  ["absent || 'instead'", "instead"],
])("an expression finds the language's functions each time: %s", (expression, found) => {
  for (let times = 0; times < 2; times += 1) expect(jmespathSearch(expression, data)).toBe(found);
});

test("a function that the language does not have is a failure that quotes nothing of the data", () => {
  const search = () => jmespathSearch("powertools_json(items[0].id)", data);
  expect(search).toThrow(FailureError);
  expect(search).toThrow(/^the expression fails: UnknownFunctionError$/);
});
