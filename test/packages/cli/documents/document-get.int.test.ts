import { randomBytes } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { documentVersions } from "../../../../adapters/dynamodb/document-versions.ts";
import { documentReader, type StoredDocument } from "../../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../../adapters/dynamodb/event-table.ts";
import { scanDocuments } from "../../../../adapters/dynamodb/table-scan.ts";
import { overflowBucket } from "../../../../adapters/s3/overflow-bucket.ts";
import type { VersionWanted } from "../../../../domain/read/route.ts";
import {
  bytesOf,
  changesBetween,
  findDocument,
  versionBefore,
} from "../../../../packages/cli/documents/document-get.ts";
import {
  describeDocument,
  documentsText,
  listDocuments,
} from "../../../../packages/cli/documents/document-list.ts";
import { documentsUrl, income, readingFixture } from "../../../functions/read/reading.ts";
import { describeOnTables } from "../../../support/engines.ts";

await describeOnTables("the documents of an account", (tables) => {
  const [first, second, third] = [1_900_000_000_000, 1_900_000_001_000, 1_900_000_002_000];
  const large = JSON.stringify(randomBytes(40_000).toString("base64"));
  const at = (time: number) => new Date(time).toISOString();
  const reading = readingFixture(tables);
  beforeEach(async () => {
    await save(large, first);
    await save("[2]", second);
  });

  const save = (content: string | undefined, asOf: number) => reading.save(content, asOf, income, 30);
  const portsOf = ({ system, table, bucket }: typeof reading) => ({
    partitions: partitions(system.dynamodb, table.name),
    readDocuments: documentReader(system.dynamodb, table.name),
    versions: documentVersions(system.dynamodb, table.name, () => new Date(third)),
    overflow: overflowBucket(bucket.name, system.s3),
    scan: () => scanDocuments(system.dynamodb, table.name),
  });
  const find = (wanted: VersionWanted) => findDocument(reading.account, income, wanted, portsOf(reading));
  const textOf = async (stored: StoredDocument) =>
    String(Buffer.from(await bytesOf(stored, portsOf(reading))));
  const get = async (wanted: VersionWanted) => textOf(await find(wanted));
  const compare = async (wanted: VersionWanted, reveal: boolean) => {
    const stored = await find(wanted);
    const earlier = await versionBefore(stored, portsOf(reading).versions);
    return (
      earlier && changesBetween(earlier, [await textOf(earlier), await textOf(stored)], { reveal, ids: [] })
    );
  };

  it.each([
    ["the newest, where nothing is said", {}, "[2]"],
    ["the newest by its version", { version: second }, "[2]"],
    ["one that was superseded", { version: first }, large],
    ["what was known at a time", { asOf: second - 1 }, large],
    ["what is known now", { asOf: second + 1 }, "[2]"],
  ])("are found: %s", async (_, wanted, expected) => {
    expect(await get(wanted)).toBe(expected);
  });

  it.each([{ version: first + 1 }, { asOf: first - 1 }])(
    "are named by their retained versions if %j is not among them",
    async (wanted) => {
      await expect(get(wanted)).rejects.toThrow(
        `This version of income is not retained. Retained: ${second} (${at(second)}), ${first} (${at(first)}). ` +
          "See retention.documentVersionsDays.",
      );
    },
  );

  it("are compared with the previous one, even if the provider had none in between, masked or not", async () => {
    await save(undefined, second + 200);
    await save("[2, 9007199254740993]", second + 400);
    const after = 9_007_199_254_740_993n;
    expect(JSON.stringify(await compare({}, true))).toContain(
      `"changes":[{"path":"[1]","is":"added","after":${after}}]`,
    );
    expect(await compare({}, false)).toEqual({
      version: String(second),
      observedAt: at(second),
      count: 1,
      changes: [{ path: "[1]", is: "added", after: "(number)" }],
    });
    expect(await compare({ version: first }, true)).toBeUndefined();
  });

  const list = (filter: { since?: number; until?: number } = {}, limit = 50) =>
    listDocuments({ subject: reading.account, filter, limit }, portsOf(reading));
  const listed = async (...given: Parameters<typeof list>) =>
    (await list(...given)).map(({ document, supersededAt }) => [document.announced, supersededAt]);

  it("are found and listed after the provider has no more", async () => {
    await save(undefined, third - 200);
    expect(await get({ asOf: second })).toBe("[2]");
    await expect(get({})).rejects.toThrow("has no document income; it has: none.");
    expect(await listed()).toEqual([
      [second, third - 200],
      [first, second],
    ]);
  });

  it("are listed with the retained versions after the newest, with their replacements and times", async () => {
    const size = large.length;
    expect((await list()).map((each) => describeDocument(each, documentsUrl))).toEqual([
      expect.not.objectContaining({ supersededAt: expect.anything() }),
      expect.objectContaining({
        ...{ version: String(first), size, observedAt: at(first), supersededAt: at(second) },
        href: expect.stringContaining(`?version=${first}`),
      }),
    ]);
    const [, newest = "", superseded = ""] = documentsText(await list()).split("\n");
    expect(newest).toMatch(new RegExp(`${at(second)} +${second} +3 +\\w{12} +-$`));
    expect(superseded).toMatch(new RegExp(`${at(first)} +${first} +${size} +\\w{12} +${at(second)}$`));
  });

  it("are filtered and limited as versions", async () => {
    expect(await listed({}, 1)).toEqual([[second, undefined]]);
    expect(await listed({ until: second })).toEqual([[first, second]]);
    expect(await listed({ since: second })).toEqual([[second, undefined]]);
  });
});
