import { randomBytes } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { documentVersions } from "../../../../adapters/dynamodb/document-versions.ts";
import { documentReader } from "../../../../adapters/dynamodb/documents.ts";
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

await describeOnTables("documents get", (tables) => {
  const [first, second] = [1_900_000_000_000, 1_900_000_001_000];
  const large = JSON.stringify(randomBytes(40_000).toString("base64"));
  const retainDays = 30;
  const reading = readingFixture(tables);
  beforeEach(async () => {
    await reading.save(large, first, income, retainDays);
    await reading.save("[2]", second, income, retainDays);
  });

  const portsOf = ({ system, table, bucket }: typeof reading) => ({
    partitions: partitions(system.dynamodb, table.name),
    readDocuments: documentReader(system.dynamodb, table.name),
    versions: documentVersions(system.dynamodb, table.name, () => new Date(second)),
    overflow: overflowBucket(bucket.name, system.s3),
  });
  const get = async (wanted: VersionWanted) => {
    const ports = portsOf(reading);
    const stored = await findDocument(reading.account, income, wanted, ports);
    return Buffer.from(await bytesOf(stored, ports)).toString();
  };
  const compare = async (wanted: VersionWanted, reveal: boolean) => {
    const ports = portsOf(reading);
    const stored = await findDocument(reading.account, income, wanted, ports);
    const earlier = await versionBefore(stored, ports.versions);
    if (earlier === undefined) return undefined;
    const texts = [await bytesOf(earlier, ports), await bytesOf(stored, ports)].map((bytes) =>
      Buffer.from(bytes).toString(),
    );
    return changesBetween(earlier, [texts[0] ?? "", texts[1] ?? ""], { reveal, ids: [] });
  };

  it.each([
    ["the newest, where nothing is said", {}, "[2]"],
    ["the newest by its version", { version: second }, "[2]"],
    ["one that was superseded", { version: first }, large],
    ["what was known at a time", { asOf: second - 1 }, large],
    ["what is known now", { asOf: second + 1 }, "[2]"],
  ])("finds %s", async (_, wanted, expected) => {
    expect(await get(wanted)).toBe(expected);
  });

  it.each([{ version: first + 1 }, { asOf: first - 1 }])(
    "names the retained versions if %j is not among them",
    async (wanted) => {
      await expect(get(wanted)).rejects.toThrow(
        `This version of income is not retained. Retained: ${second} (${new Date(second).toISOString()}), ` +
          `${first} (${new Date(first).toISOString()}). See retention.documentVersionsDays.`,
      );
    },
  );

  it("compares a version with the previous one, even if the provider had none in between, masked or not", async () => {
    await reading.save(undefined, second + 1_000, income, retainDays);
    await reading.save("[2, 9007199254740993]", second + 2_000, income, retainDays);
    const after = 9_007_199_254_740_993n;
    expect(JSON.stringify(await compare({}, true))).toContain(
      `"changes":[{"path":"[1]","is":"added","after":${after}}]`,
    );
    expect(await compare({}, false)).toEqual({
      version: String(second),
      observedAt: new Date(second).toISOString(),
      count: 1,
      changes: [{ path: "[1]", is: "added", after: "(number)" }],
    });
    expect(await compare({ version: first }, true)).toBeUndefined();
  });

  it("finds earlier data after the provider has no more", async () => {
    await reading.save(undefined, second + 1_000, income, retainDays);
    expect(await get({ asOf: second })).toBe("[2]");
    await expect(get({})).rejects.toThrow("has no document income; it has: none.");
  });
});

await describeOnTables("documents list", (tables) => {
  const [first, second, third] = [1_900_000_000_000, 1_900_000_001_000, 1_900_000_002_000];
  const reading = readingFixture(tables);
  beforeEach(async () => {
    await save("[1]", first);
    await save("[2, 2]", second);
  });

  const save = (content: string | undefined, asOf: number) => reading.save(content, asOf, income, 30);
  const list = (filter: { since?: number; until?: number } = {}, limit = 50) => {
    const { system, table, account: subject } = reading;
    return listDocuments(
      { subject, filter, limit },
      {
        partitions: partitions(system.dynamodb, table.name),
        readDocuments: documentReader(system.dynamodb, table.name),
        versions: documentVersions(system.dynamodb, table.name, () => new Date(third)),
        scan: () => scanDocuments(system.dynamodb, table.name),
      },
    );
  };
  const listed = async (...given: Parameters<typeof list>) =>
    (await list(...given)).map(({ document, supersededAt }) => [document.announced, supersededAt]);
  const at = (time: number) => new Date(time).toISOString();

  it("shows the retained versions after the newest, with their replacements and times", async () => {
    expect((await list()).map((each) => describeDocument(each, documentsUrl))).toEqual([
      expect.not.objectContaining({ supersededAt: expect.anything() }),
      expect.objectContaining({
        version: String(first),
        size: 3,
        observedAt: at(first),
        supersededAt: at(second),
        href: expect.stringContaining(`?version=${first}`),
      }),
    ]);
    const [, newest = "", superseded = ""] = documentsText(await list()).split("\n");
    expect(newest).toMatch(new RegExp(`${at(second)} +${second} +6 +\\w{12} +-$`));
    expect(superseded).toMatch(new RegExp(`${at(first)} +${first} +3 +\\w{12} +${at(second)}$`));
  });

  it("filters and limits versions as documents", async () => {
    expect(await listed({}, 1)).toEqual([[second, undefined]]);
    expect(await listed({ until: second })).toEqual([[first, second]]);
    expect(await listed({ since: second })).toEqual([[second, undefined]]);
  });

  it("shows the versions of a document of which the provider has no data any more", async () => {
    await save(undefined, third);
    expect(await listed()).toEqual([
      [second, third],
      [first, second],
    ]);
  });
});
