import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { scanDocuments } from "../../../../adapters/dynamodb/document-scan.ts";
import { documentVersions } from "../../../../adapters/dynamodb/document-versions.ts";
import { documentReader } from "../../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../../adapters/dynamodb/partitions.ts";
import {
  describeDocument,
  documentsText,
  listDocuments,
} from "../../../../packages/cli/documents/document-list.ts";
import { documentsUrl, income, Reading } from "../../../functions/read/reading.ts";
import { describeOnTables } from "../../../support/engines.ts";

await describeOnTables("documents list", (tables) => {
  const [first, second, third] = [1_900_000_000_000, 1_900_000_001_000, 1_900_000_002_000];
  let reading: Reading;
  beforeAll(async () => {
    reading = await Reading.start(tables);
  });
  afterAll(() => reading.close());
  beforeEach(async () => {
    reading.begin();
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
        onScanned: () => undefined,
      },
    );
  };
  const listed = async (...given: Parameters<typeof list>) =>
    (await list(...given)).map(({ document, supersededAt }) => [document.announced, supersededAt]);
  const at = (time: number) => new Date(time).toISOString();

  it("shows the versions that are kept behind the newest, with what took their place and when", async () => {
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
