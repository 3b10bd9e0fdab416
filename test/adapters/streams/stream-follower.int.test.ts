import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { followStream, streamOf } from "../../../adapters/streams/stream-follower.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";
import { startTestProvider, type TestProvider } from "../../support/test-provider.ts";

const credentials = { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" };
const region = "eu-central-1";

/** Collects the sort keys of new items until stopped. */
function follow(
  client: DynamoDBStreamsClient,
  stream: string,
  wait = () => new Promise<void>((resolve) => void setTimeout(resolve, 5)),
) {
  const ending = new AbortController();
  const ready = Promise.withResolvers<void>();
  const seen: string[] = [];
  const errors: string[] = [];
  const records = followStream(client, stream, {
    signal: ending.signal,
    wait,
    onReady: ready.resolve,
    onError: (reason) => void errors.push(reason),
  });
  const ended = (async () => {
    for await (const some of records)
      seen.push(...some.map(({ dynamodb }) => dynamodb?.NewImage?.sk?.S ?? ""));
  })();
  return {
    seen,
    troubles: errors,
    ready: Promise.race([ready.promise, ended]),
    stop: () => ending.abort(),
    ended,
  };
}

await describeOnEachTable("following a table's stream", (tables) => {
  const made = systemWithTable(tables);
  let client: DynamoDBStreamsClient;
  let stream: string;
  let release: () => void = () => undefined;
  beforeAll(async () => {
    client = new DynamoDBStreamsClient({ maxAttempts: 1 });
    stream = await streamOf(made.system.dynamodb, made.table.name);
  });
  afterEach(() => release());
  afterAll(() => client.destroy());
  const put = (sk: string) =>
    // Each write differs: identical ones produce no record.
    made.system.dynamodb.send(
      new PutItemCommand({ TableName: made.table.name, Item: marshall({ pk: "p", sk, made: randomUUID() }) }),
    );
  /** Fails the action until released. */
  const fail = (action: string, errorType: string) => {
    const failed = Promise.withResolvers<void>();
    release = made.system.intercept(async (call, phase) => {
      if (phase !== "before" || call.action !== action) return undefined;
      failed.resolve();
      return { status: 400, errorType, message: "injected by the test" };
    });
    return failed.promise;
  };

  it("reports every change from now on once, and nothing from before, until it is stopped", async () => {
    await put("before");
    const { seen, ready, stop, ended } = follow(client, stream);
    await ready;
    await put("one");
    await put("two");
    await expect.poll(() => seen).toEqual(["one", "two"]);
    await put("three");
    await expect.poll(() => seen).toEqual(["one", "two", "three"]);
    stop();
    await ended;
  });

  it.each([
    ["dynamodb:GetRecords", "ProvisionedThroughputExceededException"],
    ["dynamodb:GetRecords", "LimitExceededException"],
    ["dynamodb:GetShardIterator", "ThrottlingException"],
    ["dynamodb:DescribeStream", "ThrottlingException"],
  ])("reports if %s is answered %s, and continues", async (action, errorType) => {
    const failed = fail(action, errorType);
    const { seen, ready, stop, ended, troubles: errors } = follow(client, stream);
    await failed;
    await expect.poll(() => errors).toContain(errorType);
    release();
    await ready;
    await put("first");
    await expect.poll(() => seen).toEqual(["first"]);
    stop();
    await ended;
  });

  it("continues after the last record if a pause outlasted the iterator", async () => {
    const { seen, ready, stop, ended, troubles: errors } = follow(client, stream);
    await ready;
    await put("first");
    await expect.poll(() => seen).toEqual(["first"]);
    const failed = fail("dynamodb:GetRecords", "ExpiredIteratorException");
    await put("second");
    await failed;
    release();
    await expect.poll(() => seen).toEqual(["first", "second"]);
    expect(errors).toEqual([]);
    stop();
    await ended;
  });

  it("misses nothing if the iterator expired before the first read", async () => {
    const { seen, ready, stop, ended } = follow(client, stream);
    await ready;
    const failed = fail("dynamodb:GetRecords", "ExpiredIteratorException");
    await failed;
    await put("during the pause");
    release();
    await expect.poll(() => seen).toContain("during the pause");
    stop();
    await ended;
  });

  it("continues after any error if it is to endure, and reports it", async () => {
    const turns: string[] = [];
    const ending = new AbortController();
    const records = followStream(client, stream, {
      signal: ending.signal,
      wait: () => new Promise((resolve) => void setTimeout(resolve, 5)),
      endures: true,
      onReady: () => void turns.push("ready"),
      onError: (reason) => void turns.push(reason),
      onRecovered: () => void turns.push("recovered"),
    });
    void fail("dynamodb:GetShardIterator", "ExpiredTokenException");
    const ended = (async () => {
      for await (const _ of records);
    })();
    await expect.poll(() => turns).toContain("ExpiredTokenException");
    expect(turns).not.toContain("ready");
    release();
    await expect.poll(() => turns).toContain("ready");
    expect(turns).toContain("recovered");
    ending.abort();
    await ended;
  });

  it("ends with the error if it may not read", async () => {
    void fail("dynamodb:GetShardIterator", "AccessDeniedException");
    await expect(follow(client, stream).ready).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});

describe("following a stream whose shards end", () => {
  let service: TestProvider;
  let client: DynamoDBStreamsClient;
  let isDropped = false;
  const open = new Set(["parent"]);
  const shards = [
    { id: "old", records: ["long ago"] },
    { id: "parent", records: [] as string[] },
  ];
  const read = new Map<string, number>();
  const answers: Readonly<Record<string, (input: Record<string, string>) => object>> = {
    DescribeStream: () => ({
      StreamDescription: {
        Shards: shards.map(({ id }) => ({
          ShardId: id,
          SequenceNumberRange: {
            StartingSequenceNumber: "1",
            ...(!open.has(id) && { EndingSequenceNumber: "9" }),
          },
        })),
      },
    }),
    GetShardIterator: ({ ShardId = "", ShardIteratorType }) => {
      const end = shards.find(({ id }) => id === ShardId)?.records.length ?? 0;
      read.set(ShardId, ShardIteratorType === "LATEST" ? end : 0);
      if (ShardIteratorType === "TRIM_HORIZON") isDropped = false;
      return { ShardIterator: ShardId };
    },
    GetRecords: ({ ShardIterator: id = "" }) => {
      const all = shards.find((shard) => shard.id === id)?.records ?? [];
      const from = read.get(id) ?? 0;
      read.set(id, all.length);
      const Records = all.slice(from).map((sk, index) => ({
        dynamodb: { NewImage: { sk: { S: sk } }, SequenceNumber: String(from + index + 1) },
      }));
      return { Records, ...(open.has(id) && { NextShardIterator: id }) };
    },
  };
  beforeAll(async () => {
    service = await startTestProvider();
    service.answer = ({ headers, body }) => {
      const operation = String(headers["x-amz-target"]).split(".")[1] ?? "";
      if (operation === "GetRecords" && isDropped)
        return { status: 400, json: { __type: "TrimmedDataAccessException" } };
      return { json: answers[operation]?.(JSON.parse(body)) };
    };
    client = new DynamoDBStreamsClient({ endpoint: service.url, region, credentials });
  });
  afterAll(() => {
    client.destroy();
    return service.close();
  });

  it("reads an open shard to its end, then its children from their start, and none that had ended", async () => {
    const rounds: (() => void)[] = [];
    const next = async () => {
      await expect.poll(() => rounds.length).toBe(1);
      rounds.shift()?.();
    };
    const waitForNext = () => new Promise<void>((resolve) => void rounds.push(resolve));
    const { seen, stop, ended } = follow(client, "arn:stream", waitForNext);
    await next();
    shards[1]?.records.push("last of the parent");
    shards.push({ id: "child", records: ["first of the child"] });
    open.add("child");
    open.delete("parent");
    // Once for the end of the parent, once for the child.
    await next();
    await next();
    await expect.poll(() => rounds.length).toBe(1);
    expect(seen).toEqual(["last of the parent", "first of the child"]);
    stop();
    rounds.shift()?.();
    await ended;
  });

  it("continues at the oldest record if the stream has dropped the next", async () => {
    shards.splice(0, shards.length, { id: "only", records: [] });
    open.add("only");
    const { seen, ready, stop, ended } = follow(client, "arn:stream");
    await ready;
    shards[0]?.records.push("read");
    await expect.poll(() => seen).toEqual(["read"]);
    isDropped = true;
    shards[0]?.records.splice(0, 1, "kept");
    await expect.poll(() => seen).toEqual(["read", "kept"]);
    stop();
    await ended;
  });
});
