import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeAll, expect, it } from "vitest";
import { scanTable, type TableScan, tableSize } from "../../../adapters/dynamodb/table-scan.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

await describeOnEachTable("a scan of the table", (tables) => {
  const made = systemWithTable(tables);
  beforeAll(async () => {
    // More than a page of 1 MB.
    for (let index = 0; index < 9; index += 1) {
      for (const sk of ["EVENT#1", "DATA#x", "STATE"])
        await put({ pk: `USER#${index}`, sk, body: "x".repeat(60_000) });
    }
  });

  const put = (item: object) =>
    made.system.dynamodb.send(
      new PutItemCommand({ TableName: made.table.name, Item: marshall({ ...item, event: "e" }) }),
    );
  const scan = async (wanted: Partial<TableScan> = {}) => {
    const pages = [];
    const all = { sortKeys: ["EVENT#"], attributes: ["event"], ...wanted };
    for await (const page of scanTable(made.system.dynamodb, made.table.name, all)) pages.push(page);
    return pages;
  };

  it("reads all pages, with the requested items and attributes only", async () => {
    const pages = await scan();
    expect(pages.length).toBeGreaterThan(1);
    const items = pages.flatMap((page) => page.items);
    expect(items).toHaveLength(9);
    for (const item of items) expect(item).toEqual({ pk: expect.any(String), sk: "EVENT#1", event: "e" });
    // One engine counts the last item of a page again.
    expect(pages.reduce((sum, { examined }) => sum + examined, 0)).toBeGreaterThanOrEqual(27);
  });

  it("finds items of several sort keys", async () => {
    const items = (await scan({ sortKeys: ["STATE", "DATA#"], attributes: [] })).flatMap(
      (page) => page.items,
    );
    expect(new Set(items.map(({ sk }) => sk))).toEqual(new Set(["STATE", "DATA#x"]));
    expect(items).toHaveLength(18);
  });

  it("resumes where an earlier one stopped", async () => {
    const [first, ...rest] = await scan();
    if (first?.last === undefined) throw new Error("there is one page only");
    const further = await scan({ after: first.last });
    expect(further.flatMap(({ items }) => items)).toEqual(rest.flatMap(({ items }) => items));
  });

  it("accepts the table's size in advance", async () => {
    const size = await tableSize(made.system.dynamodb, made.table.name);
    expect(size).toEqual({ items: 27, bytes: expect.any(Number) });
    // One engine reports no sizes.
    expect(size.bytes === 0 || size.bytes > 27 * 60_000).toBe(true);
  });
});
