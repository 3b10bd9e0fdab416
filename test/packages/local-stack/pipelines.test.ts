import { outputOf, pipelinesIn, queuesOf, subscribersOf } from "@income-events/local-stack/outputs.ts";
import { describe, expect, it } from "vitest";

const outputsOf = (id: string) => ({
  [`${id}SettingsDigest`]: "abc",
  [`${id}TableName`]: `${id}-table`,
  [`${id}UsersQueueUrl`]: `http://queues/${id}`,
  [`${id}Subscribers`]: `[{"name":"billing","queueUrl":"http://queues/${id}/billing"}]`,
});

describe("the pipelines of a stack", () => {
  it("have the outputs that begin with their own id, the longest that fits", () => {
    const found = pipelinesIn({
      ...outputsOf("Payroll"),
      ...outputsOf("PayrollTest"),
      SiteUrl: "http://site",
    });
    expect(found.map(({ id, outputs }) => [id, outputs.TableName])).toEqual([
      ["Payroll", "Payroll-table"],
      ["PayrollTest", "PayrollTest-table"],
    ]);
    for (const { outputs } of found) expect(Object.keys(outputs)).toHaveLength(4);
  });

  it("are found by names without the id: those of the first, then those of the app", () => {
    const stack = { outputs: { ...outputsOf("Events"), IncomesTableName: "incomes" } };
    expect(outputOf(stack, "TableName")).toBe("Events-table");
    expect(outputOf(stack, "IncomesTableName")).toBe("incomes");
    expect(queuesOf(stack)).toEqual({ users: "http://queues/Events" });
    expect(subscribersOf(stack).map(({ name }) => name)).toEqual(["billing"]);
    expect(() => outputOf(stack, "Lost")).toThrow("The assembly has no output Lost");
  });
});
