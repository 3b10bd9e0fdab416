import { randomUUID } from "node:crypto";
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DescribeTableCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnEachTable } from "../../../../support/engines.ts";
import {
  account,
  clients,
  createTable,
  type LocalSystem,
  region,
  startLocalSystem,
} from "../local-system.ts";

// The engines are shared with other files.
const facts = `Facts-${randomUUID()}`;
const others = `Others-${randomUUID()}`;
const arnOf = (table: string) => `arn:aws:dynamodb:${region}:${account}:table/${table}`;
const [tableArn, otherArn] = [arnOf(facts), arnOf(others)];

await describeOnEachTable("tables", (tables) => {
  let system: LocalSystem;
  let streamArn: string;

  beforeAll(async () => {
    system = await startLocalSystem({ tables });
    streamArn = await createTable(system, facts, "pk");
    await createTable(system, others, "pk");
  });

  afterAll(async () => {
    await system.close();
  });

  test("ARNs in answers have the local system's region and account", async () => {
    const described = await clients(system, system.operator).dynamodb.send(
      new DescribeTableCommand({ TableName: facts }),
    );
    expect(described.Table?.TableArn).toBe(tableArn);
    expect(streamArn).toMatch(`${tableArn}/stream/`);
    expect(described.Table?.LatestStreamArn).toBe(streamArn);
  });

  test("a transaction needs the item permissions of every part on its own table", async () => {
    const caller = system.caller(
      "transacts",
      ["dynamodb:PutItem", tableArn],
      ["dynamodb:ConditionCheckItem", tableArn],
      ["dynamodb:PutItem", otherArn],
    );
    const { dynamodb } = clients(system, caller);
    const put = { Put: { TableName: others, Item: { pk: { S: "t" } } } };
    const check = (TableName: string) => ({
      ConditionCheck: { TableName, Key: { pk: { S: "c" } }, ConditionExpression: "attribute_not_exists(pk)" },
    });
    const sent = await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [put, check(facts)] }));
    expect(sent.$metadata.httpStatusCode).toBe(200);
    await expect(
      dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [put, check(others)] })),
    ).rejects.toThrow(`dynamodb:ConditionCheckItem on resource: ${otherArn}`);
  });

  test("a batch needs its own permission on every table, and reads the keys that are there", async () => {
    const requests = [{ PutRequest: { Item: { pk: { S: "b" } } } }];
    const keys = { Keys: [{ pk: { S: "b" } }, { pk: { S: "none" } }], ConsistentRead: true };
    const write = (...tables: string[]) =>
      new BatchWriteItemCommand({ RequestItems: Object.fromEntries(tables.map((name) => [name, requests])) });
    const read = (...tables: string[]) =>
      new BatchGetItemCommand({ RequestItems: Object.fromEntries(tables.map((name) => [name, keys])) });
    const writer = clients(system, system.caller("batchwriter", ["dynamodb:BatchWriteItem", tableArn]));
    await writer.dynamodb.send(write(facts));
    await expect(writer.dynamodb.send(write(facts, others))).rejects.toThrow(
      `dynamodb:BatchWriteItem on resource: ${otherArn}`,
    );
    const reader = clients(system, system.caller("batchreader", ["dynamodb:BatchGetItem", tableArn]));
    const { Responses, UnprocessedKeys } = await reader.dynamodb.send(read(facts));
    expect([Responses, UnprocessedKeys]).toEqual([{ [facts]: [{ pk: { S: "b" } }] }, {}]);
    await expect(reader.dynamodb.send(read(facts, others))).rejects.toThrow(
      `dynamodb:BatchGetItem on resource: ${otherArn}`,
    );
  });

  test("an item has at most 400 KB, and a page of a query or scan about 1 MB", async () => {
    const { dynamodb } = clients(system, system.operator);
    const TableName = `Pages-${randomUUID()}`;
    await createTable(system, TableName, "pk", "sk");
    const put = (sk: string, bytes: number) =>
      dynamodb.send(
        new PutItemCommand({
          TableName,
          Item: { pk: { S: "p" }, sk: { S: sk }, v: { S: "x".repeat(bytes) } },
        }),
      );
    await expect(put("0", 400 * 1024)).rejects.toThrow("Item size has exceeded the maximum allowed size");
    for (const sk of ["1", "2", "3", "4"]) await put(sk, 399 * 1024);
    const key = { KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": { S: "p" } } };
    const pages = [
      await dynamodb.send(new QueryCommand({ TableName, ...key })),
      await dynamodb.send(new ScanCommand({ TableName })),
    ];
    for (const { Items = [], LastEvaluatedKey } of pages) {
      expect(LastEvaluatedKey).toBeDefined();
      expect([2, 3]).toContain(Items.length);
    }
  });

  test("a stream is read with the permissions on its ARN, from iterators that name no other stream", async () => {
    const caller = system.caller(
      "streamreader",
      ["dynamodb:DescribeStream", streamArn],
      ["dynamodb:GetShardIterator", streamArn],
      ["dynamodb:GetRecords", streamArn],
      ["dynamodb:ListStreams", "*"],
    );
    await clients(system, system.operator).dynamodb.send(
      new PutItemCommand({ TableName: facts, Item: { pk: { S: "streamed" } } }),
    );
    const { streams } = clients(system, caller);
    const listed = await streams.send(new ListStreamsCommand({ TableName: facts }));
    expect(listed.Streams).toMatchObject([{ StreamArn: streamArn }]);
    const described = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn }));
    expect(described).toMatchObject({ StreamDescription: { StreamArn: streamArn } });
    const ShardId = described.StreamDescription?.Shards?.[0]?.ShardId;
    const start = { StreamArn: streamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" } as const;
    const { ShardIterator } = await streams.send(new GetShardIteratorCommand(start));
    const read = await streams.send(new GetRecordsCommand({ ShardIterator }));
    expect(JSON.stringify(read.Records)).toContain('"streamed"');
    expect(JSON.stringify(read.Records)).toContain(`"awsRegion":"${region}"`);
    await streams.send(new GetRecordsCommand({ ShardIterator: read.NextShardIterator }));

    const stranger = system.caller("stranger", ["dynamodb:GetRecords", `${otherArn}/stream/*`]);
    await expect(
      clients(system, stranger).streams.send(new GetRecordsCommand({ ShardIterator })),
    ).rejects.toMatchObject({ name: "AccessDeniedException", $metadata: { httpStatusCode: 400 } });
    expect(system.gateway.denials().at(-1)?.resource).toBe(streamArn);
  });
});
