import { expect, it } from "vitest";
import { subscriberQueues, workQueues } from "../../../../packages/cli/status/work-queues.ts";

it("the queues of a stage include that of deadlines if the stage has one", () => {
  const output = (name: string) => (name === "Subscribers" ? "[]" : name);
  const namesIn = (optionalOutput: (name: string) => string | undefined) =>
    workQueues({ output, optionalOutput }).map(({ name }) => name);
  const names = namesIn(() => undefined);
  expect(names).not.toContain("deadlines");
  expect(namesIn((name) => name)).toEqual([...names.slice(0, -1), "deadlines", "erase"]);
});

it("an incomplete output of subscribers is refused with the field's name", () => {
  const incomplete = { output: () => JSON.stringify([{ name: "billing" }]) };
  expect(() => subscriberQueues(incomplete)).toThrow("queueUrl");
});
