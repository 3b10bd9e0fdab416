import { randomUUID } from "node:crypto";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import {
  functionResources,
  mappingResource,
  readingStreams,
  tableResource,
} from "../../../support/assembly.ts";
import { describeOnEachTable } from "../../../support/engines.ts";
import { started } from "../stack/started.ts";

/** An empty map is one that an engine may leave out of its stream. */
const maps = { m: { M: { none: { M: {} }, list: { L: [{ M: {} }, { S: "x" }] } } } };

/** A table with a stream, and a function that logs each batch's keys before handling it. */
async function startFollower(handler: string, mapping: Readonly<Record<string, unknown>> = {}) {
  const table = `Items${randomUUID()}`;
  const source = {
    assets: {
      Follow: `
        const handle = ${handler};
        export const handler = async (event) => {
          console.log(event.Records.map(({ dynamodb }) => dynamodb.Keys.sk.S).join(" "));
          return handle(event);
        };`,
    },
    resources: {
      ...tableResource("Items", { TableName: table }),
      Failures: { Type: "AWS::S3::Bucket", Properties: { BucketName: "failures" } },
      ...functionResources("Follow", {
        allow: [
          readingStreams,
          ["s3:PutObject", "arn:aws:s3:::failures/*"],
          ["s3:ListBucket", "arn:aws:s3:::failures"],
        ],
      }),
      ...mappingResource("Mapping", ["Items", "StreamArn"], "Follow", {
        StartingPosition: "TRIM_HORIZON",
        MaximumRetryAttempts: 1,
        DestinationConfig: { OnFailure: { Destination: "arn:aws:s3:::failures" } },
        ...mapping,
      }),
    },
  };
  const running = await started(source, { delay: async () => {} });
  return {
    ...running,
    table,
    put: async (...sks: string[]) => {
      for (const sk of sks) {
        const Item = {
          pk: { S: "p" },
          sk: { S: sk },
          n: { N: "1.50" },
          b: { B: Buffer.from([0, 255]) },
          ...maps,
        };
        await running.clients.dynamodb.send(new PutItemCommand({ TableName: table, Item }));
      }
    },
  };
}

await describeOnEachTable("a table's stream", (tables) => {
  beforeAll(() => {
    vi.stubEnv("DYNAMODB_ENDPOINT", tables);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  test("gives every change to the function, in order and once", async () => {
    await using follower = await startFollower("() => null");
    const keys = Array.from({ length: 40 }, (_, index) => String(index).padStart(2, "0"));
    await follower.put(...keys);
    await follower.drained();
    expect(follower.log().join(" ").split(" ")).toEqual(keys);
  });

  test("has records in the shape of AWS", async () => {
    await using follower = await startFollower("({ Records }) => console.log(JSON.stringify(Records))");
    await follower.put("a");
    const Key = { pk: { S: "p" }, sk: { S: "a" } };
    await follower.clients.dynamodb.send(new DeleteItemCommand({ TableName: follower.table, Key }));
    await follower.drained();
    const image = { ...Key, n: { N: "1.5" }, b: { B: "AP8=" }, ...maps };
    const records: unknown[] = follower
      .log()
      .filter((line) => line.startsWith("["))
      .flatMap((line) => JSON.parse(line));
    const shared = {
      ApproximateCreationDateTime: expect.closeTo(Date.now() / 1000, -2),
      Keys: Key,
      SequenceNumber: expect.stringMatching(/^\d+$/),
      SizeBytes: expect.any(Number),
      StreamViewType: "NEW_AND_OLD_IMAGES",
    };
    expect(records).toEqual([
      {
        eventID: expect.stringMatching(/./),
        eventName: "INSERT",
        eventVersion: expect.stringMatching(/^1\.\d$/),
        eventSource: "aws:dynamodb",
        awsRegion: "eu-central-1",
        dynamodb: { ...shared, NewImage: image },
        eventSourceARN: expect.stringMatching(
          new RegExp(`^arn:aws:dynamodb:eu-central-1:000000000000:table/${follower.table}/stream/.`),
        ),
      },
      expect.objectContaining({ eventName: "REMOVE", dynamodb: { ...shared, OldImage: image } }),
    ]);
  });

  test("skips records that the filters exclude, and never retries them", async () => {
    await using follower = await startFollower("() => null", {
      FilterCriteria: { Filters: [{ Pattern: '{"dynamodb":{"Keys":{"sk":{"S":[{"prefix":"EVENT#"}]}}}}' }] },
    });
    await follower.put("STATE", "EVENT#1", "DATA", "EVENT#2");
    await follower.drained();
    expect(follower.log().join(" ")).toBe("EVENT#1 EVENT#2");
  });

  test("is retried from the lowest failed record, whose batch is given up whole to the destination", async () => {
    await using follower = await startFollower(
      `({ Records }) => ({ batchItemFailures: Records.filter(({ dynamodb }) => dynamodb.Keys.sk.S === "bad")
        .map(({ dynamodb }) => ({ itemIdentifier: dynamodb.SequenceNumber })) })`,
    );
    await follower.put("bad", "after");
    await follower.drained();
    const objects = await givenUp(follower.clients.s3);
    expect(objects).toHaveLength(1);
    const [object] = objects;
    expect(object?.key).toMatch(
      /^aws\/lambda\/[0-9a-f-]{36}\/[^/]+\/\d{4}\/\d\d\/\d\d\/\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d-[0-9a-f-]{36}$/,
    );
    expect(object?.record).toMatchObject({
      requestContext: {
        condition: "RetryAttemptsExhausted",
        functionArn: "arn:aws:lambda:eu-central-1:000000000000:function:Follow",
        approximateInvokeCount: 2,
      },
      responseContext: { statusCode: 200, functionError: "Unhandled" },
      version: "1.0",
      DDBStreamBatchInfo: {
        batchSize: expect.any(Number),
        streamArn: expect.stringContaining(follower.table),
      },
    });
    expect(object?.keys[0]).toBe("bad");
    expect(follower.stack.problems().failures).toEqual([]);
  });

  test("is bisected, so that only the failing record goes to the destination", async () => {
    await using follower = await startFollower(
      `({ Records }) => { if (Records.some(({ dynamodb }) => dynamodb.Keys.sk.S === "bad")) throw new Error("no"); }`,
      { BisectBatchOnFunctionError: true, MaximumBatchingWindowInSeconds: 60, BatchSize: 6 },
    );
    await follower.put("a", "b", "c", "bad", "e", "f");
    await follower.drained();
    expect((await givenUp(follower.clients.s3)).map(({ keys }) => keys)).toEqual([["bad"]]);
    const batches = ["a b c bad e f", "a b c", "bad e f", "bad e", "bad", "bad", "e", "f"];
    expect(follower.log()).toEqual(batches);
  });

  test("continues at its position after its mapping was disabled for a while", async () => {
    await using follower = await startFollower("() => null");
    const client = new LambdaClient({
      endpoint: follower.stack.gatewayUrl,
      region: follower.stack.region,
      credentials: follower.stack.operator,
    });
    onTestFinished(() => client.destroy());
    const { EventSourceMappings } = await client.send(new ListEventSourceMappingsCommand({}));
    const UUID = EventSourceMappings?.[0]?.UUID;
    const enable = (Enabled: boolean) => client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }));
    await follower.put("a");
    await follower.drained();
    await enable(false);
    const { EventSourceMappings: disabled } = await client.send(new ListEventSourceMappingsCommand({}));
    expect(disabled).toMatchObject([{ State: "Disabled" }]);
    await follower.put("b");
    await expect(follower.stack.drained({ deadline: 500 })).rejects.toThrow("records in streams");
    expect(follower.log().join(" ")).toBe("a");
    await enable(true);
    await follower.put("c");
    await follower.drained();
    expect(follower.log().join(" ")).toBe("a b c");
  });

  test("continues at its position after a failed read", async () => {
    await using follower = await startFollower("() => null");
    let faults = 0;
    await follower.put("a");
    await follower.drained();
    const stop = follower.stack.gateway.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:GetRecords" || phase !== "before" || faults >= 6) return undefined;
      faults += 1;
      return { status: 500, errorType: "InternalServerError", message: "injected" };
    });
    await follower.put("b", "c");
    await follower.drained();
    stop();
    expect(follower.log().join(" ")).toBe("a b c");
  });
});

async function givenUp(s3: S3Client) {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: "failures" }));
  return Promise.all(
    Contents.map(async ({ Key: key = "" }) => {
      const object = await s3.send(new GetObjectCommand({ Bucket: "failures", Key: key }));
      const record = JSON.parse((await object.Body?.transformToString()) ?? "");
      const { Records }: { Records: { dynamodb: { Keys: { sk: { S: string } } } }[] } = JSON.parse(
        record.payload,
      );
      return { key, record, keys: Records.map(({ dynamodb }) => dynamodb.Keys.sk.S) };
    }),
  );
}
