import { randomBytes, randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountsOnly, hex, income, readingFixture } from "./reading.ts";

await describeOnTables("versions that are kept", (tables) => {
  const reading = readingFixture(tables);
  const { save, ask, path } = reading;
  const [first, second, third] = [1_900_000_000_000, 1_900_000_001_000, 1_900_000_002_000];
  const large = JSON.stringify(randomBytes(40_000).toString("base64"));
  const retainDays = 30;
  const time = (milliseconds: number) => new Date(milliseconds).toISOString();
  beforeEach(async () => {
    for (const [content, asOf] of [
      ["[1]", first],
      [large, second],
      ["[3]", third],
    ] as const)
      await save(content, asOf, income, retainDays);
  });

  it.each([
    [`?version=${first}`, "[1]"],
    [`?version=${second}`, large],
    [`?version=${third}`, "[3]"],
    [`?asOf=${time(first)}`, "[1]"],
    [`?asOf=${time(second - 1)}`, "[1]"],
    [`?asOf=${time(second)}`, large],
    [`?asOf=${time(third - 1)}`, large],
    [`?asOf=${time(third)}`, "[3]"],
    ["", "[3]"],
  ])("is the data of that time: %s", async (query, expected) => {
    const { status, bytes } = await ask(path(query));
    expect([status, bytes.toString()]).toEqual([200, expected]);
  });

  it.each([`?version=${first + 1}`, `?asOf=${time(first - 1)}`, "?asOf=1969-12-31T00:00:00Z"])(
    "is not found if it never existed: %s",
    async (query) => {
      const { status, json } = await ask(path(query));
      expect([status, json().type]).toEqual([404, "urn:income-events:problem:version-not-kept"]);
    },
  );

  it("are distinct from those of a date range", async () => {
    const ranged = { ...income, range: { start: "2026-01-01", end: "2026-01-31" } };
    for (const [index, asOf] of [first, second].entries())
      await save(`[${index}, "range"]`, asOf, ranged, retainDays);
    expect((await ask(path(`?version=${first}`))).bytes.toString()).toBe("[1]");
    const inRange = path(`/2026-01-01..2026-01-31`);
    expect((await ask(`${inRange}?version=${first}`)).bytes.toString()).toBe('[0, "range"]');
    expect((await ask(`${path("/versions")}`)).json().versions).toHaveLength(3);
    const { json } = await ask(`${inRange}/versions`);
    expect(json()).toMatchObject({ endpoint: "income", dateStart: "2026-01-01", dateEnd: "2026-01-31" });
    expect(json().versions).toHaveLength(2);
  });

  it("are listed, the newest first, with an address that leads to each", async () => {
    const { json } = await ask(path("/versions"));
    expect(
      json().versions.map(({ version, supersededAt }: Record<string, string>) => [version, supersededAt]),
    ).toEqual([
      [String(third), undefined],
      [String(second), time(third)],
      [String(first), time(second)],
    ]);
    for (const { href, sha256 } of json().versions) {
      const { pathname, search } = new URL(href);
      expect(hex((await ask(pathname + search)).bytes)).toBe(sha256);
    }
  });

  it("omit the time in which the provider had no data", async () => {
    await save(undefined, third + 1_000, income, retainDays);
    await save("[5]", third + 2_000, income, retainDays);
    expect((await ask(path(`?asOf=${time(third + 999)}`))).bytes.toString()).toBe("[3]");
    expect((await ask(path(`?asOf=${time(third + 1_500)}`))).json()).toMatchObject({
      type: "urn:income-events:problem:version-not-kept",
    });
  });

  it("can be read after the provider has no more data", async () => {
    await save(undefined, third + 1_000, income, retainDays);
    expect((await ask(path(`?version=${third}`))).bytes.toString()).toBe("[3]");
    expect((await ask(path())).status).toBe(404);
    expect((await ask(path("/versions"))).json().versions).toHaveLength(3);
  });

  it("are gone once they expire, also before DynamoDB deletes them", async () => {
    const at = (days: number) => () => new Date(third + days * 86_400_000);
    const versions = (days: number) => ({
      versions: documentVersions(reading.system.dynamodb, reading.table.name, at(days)),
    });
    expect((await ask(path(`?version=${second}`), {}, versions(29))).status).toBe(200);
    for (const query of [`?version=${second}`, `?asOf=${time(second)}`])
      expect((await ask(path(query), {}, versions(30.1))).json()).toMatchObject({
        type: "urn:income-events:problem:version-not-kept",
      });
    expect((await ask(path("/versions"), {}, versions(30.1))).json().versions).toHaveLength(1);
  });

  it("are refused if the subscriber's filter excludes documents", async () => {
    for (const rest of ["/versions", `?version=${first}`, `?asOf=${time(first)}`])
      expect((await ask(path(rest), accountsOnly)).status).toBe(403);
  });

  it("are not found for a document that never existed", async () => {
    const { status } = await ask(`/v1/accounts/${randomUUID()}/documents/income/versions`);
    expect(status).toBe(404);
  });
});
