import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Account, account } from "../../../proof/chaos/audit/audit-events.ts";
import { findRemains, marksOf } from "../../../proof/chaos/audit/find-remains.ts";
import { readBodies } from "../../../proof/scenario/snapshot.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestBucket,
  type TestSystem,
} from "../../support/engines.ts";

const id = "5e8f6a3c-0d0b-4a6e-9f83-2f1f6a7f3a01";
const other = "9b1f3c55-7a5e-4a57-8a0e-0a4d5f9c1b02";
const overflow = "bodies and documents";
const bucketNames = [overflow, "dead-letter archive", "undelivered changes", "erasure log"];
const queueNames = ["work", "dead letters", "a subscriber's dead letters"];

await describeOnTables("the audit of a chaos run", (tables) => {
  let system: TestSystem;
  let table: string;
  let buckets: ReadonlyMap<string, TestBucket>;
  let queues: ReadonlyMap<string, string>;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    table = (await system.createTable()).name;
    const inBuckets = bucketNames.map(async (name) => [name, await system.createBucket()] as const);
    const inQueues = queueNames.map(async (name) => [name, await system.createQueue()] as const);
    buckets = new Map(await Promise.all(inBuckets));
    queues = new Map(await Promise.all(inQueues));
    // Data of other users does not count.
    await putItem({ pk: `USER#${other}`, sk: "STATE", state: { id: other } });
    await putObject(overflow, `data/account/${other}/income/1`, gzipSync(other));
    await send("dead letters", JSON.stringify({ userId: other }));
  });

  const putItem = (item: Record<string, unknown>) =>
    system.dynamodb.send(new PutItemCommand({ TableName: table, Item: marshall(item) }));
  const putObject = (bucket: string, Key: string, Body: string | Buffer) =>
    system.s3.send(new PutObjectCommand({ Bucket: buckets.get(bucket)?.name, Key, Body }));
  const send = (queue: string, body: string) => system.send(queues.get(queue) ?? "", body);

  async function remains(logs: readonly string[] = []): Promise<readonly string[]> {
    const messages = [...queues].map(
      async ([name, url]) => [name, await readBodies(system.access, url)] as const,
    );
    const places = {
      tables: [table],
      buckets: Object.fromEntries([...buckets].map(([name, bucket]) => [name, bucket.name])),
      messages: Object.fromEntries(await Promise.all(messages)),
      logs: { Relay: logs },
    };
    return findRemains(system.access, places, { ids: [id], marks: ["Ada Lovelace"] });
  }

  const accountOf = (found: readonly string[]): Account =>
    account({
      sent: [{ kind: "users", id: "e", subjects: [id], status: 202 }],
      records: [{ change: "INSERT", key: "EVENT#e", id: "e", digest: "d" }],
      messages: [],
      stored: new Set(),
      deadLetters: new Set(),
      erased: new Set([id]),
      remains: found,
      losses: [],
      unready: [],
    });

  it("a run finds nothing if only other people's data is left", async () => {
    expect(await remains([`{"code":"ERASED","userId":"${other}"}`])).toEqual([]);
  });

  const body = JSON.stringify({ user_id: id.toUpperCase() });
  it.each<[string, string, () => Promise<unknown>]>([
    ["a key of the table", "the table: USER#", () => putItem({ pk: `USER#${id}`, sk: "STATE" })],
    ["an item", "the table: LINK", () => putItem({ pk: "LINK", sk: "1", link: { userId: id } })],
    [
      "an item's compressed content",
      "the table: DOCUMENT",
      () => putItem({ pk: "DOCUMENT", sk: "1", document: { content: gzipSync(body) } }),
    ],
    ["a report", "the table: REPORT", () => putItem({ pk: "REPORT", sk: "1", report: { subject: id } })],
    ["a document's key", `the bucket ${overflow}`, () => putObject(overflow, `data/${id}/1`, "")],
    ["a document", `the bucket ${overflow}`, () => putObject(overflow, "data/1", gzipSync(body))],
    ["a body", `the bucket ${overflow}`, () => putObject(overflow, "bodies/users/1", body)],
    [
      "a body in base64",
      `the bucket ${overflow}`,
      () => putObject(overflow, "bodies/users/1", Buffer.from(body).toString("base64")),
    ],
    [
      "an archived dead letter",
      "the bucket dead-letter archive",
      () => putObject("dead-letter archive", "dead-letters/users/1", body),
    ],
    [
      "a change that was given up on",
      "the bucket undelivered changes",
      () => putObject("undelivered changes", randomUUID(), JSON.stringify({ payload: body })),
    ],
    [
      "a part of a body, compressed and in base64",
      `the bucket ${overflow}`,
      () =>
        putObject(overflow, "bodies/users/1", JSON.stringify({ data: gzipSync(body).toString("base64") })),
    ],
    ["the erasures' log", "the bucket erasure log", () => putObject("erasure log", `erased/${id}`, "")],
    ...queueNames.map((name): [string, string, () => Promise<unknown>] => [
      `a message of ${name}`,
      `the queue ${name}`,
      () => send(name, body),
    ]),
  ])("a run fails if an erased user is left in %s", async (_, place, plant) => {
    await plant();
    const found = await remains();
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`the erased ${id} is still in ${place}`);
    expect(accountOf(found)).toMatchObject({ lost: 0, unaccounted: found });
  });

  it.each([
    ["an id", id],
    ["something of a document", "Ada Lovelace"],
  ])("a run fails if %s of an erased user is left in a log", async (_, text) => {
    const found = await remains([JSON.stringify({ code: "TASK_DONE", text })]);
    expect(found).toEqual([`the erased ${text.toLowerCase()} is still in the log of Relay`]);
    expect(accountOf(found)).toMatchObject({ lost: 0, unaccounted: found });
  });
});

it("texts that only documents of the erased have are looked for in logs, and no others", () => {
  const data = new Map<string, unknown>([
    [`${id}/income`, { name: "Ada Lovelace", employer: "Analytical Engines", paid: "2026-11-25", all: [1] }],
    [`${other}/income`, { name: "Charles Babbage", employer: "Analytical Engines" }],
  ]);
  expect(marksOf(data, new Set([id]))).toEqual(["Ada Lovelace"]);
});
