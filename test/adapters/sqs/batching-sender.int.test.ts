import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { batchingSender, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { CountdownLatch } from "../../../functions/fetch/fetcher.ts";
import { startTestProvider } from "../../../proof/support/test-provider.ts";
import { startTestSystem } from "../../support/engines.ts";

let queueUrl: string;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(async () => {
  queueUrl = await system.createQueue();
});

const requests = () => system.calls().get("test sqs:SendMessageBatch") ?? 0;
const bodies = async (url: string) => (await system.drain(url)).map(({ Body }) => Body).toSorted();
const hour = 3_600_000;

describe("messages that several send to a queue at the same time", () => {
  test("share one request", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const before = requests();
    const outcomes = await Promise.all([
      send(queueUrl, [{ body: "a" }]),
      send(queueUrl, []),
      send(queueUrl, [{ body: "b" }, { body: "c" }]),
    ]);
    expect(outcomes).toEqual([[undefined], [], [undefined, undefined]]);
    expect(requests() - before).toBe(1);
    expect(await bodies(queueUrl)).toEqual(["a", "b", "c"]);
  });

  test("share one request if the first sender waits for the other", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const before = requests();
    const latch = new CountdownLatch(["first", "last"]);
    const quick = send(queueUrl, [{ body: "a" }], () => latch.wait("first", hour));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([quick, send(queueUrl, [{ body: "b" }], () => latch.wait("last", hour))]);
    expect(requests() - before).toBe(1);
  });

  test("use separate requests for different queues", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const other = await system.createQueue();
    await Promise.all([send(queueUrl, [{ body: "a" }]), send(other, [{ body: "b" }])]);
    expect([await bodies(queueUrl), await bodies(other)]).toEqual([["a"], ["b"]]);
  });

  test("each get their own outcome", async () => {
    const refused = { type: "retryable", reason: "no", delayInSeconds: 0 } as const;
    const send = batchingSender(async (_, messages) =>
      messages.map(({ body }) => (body === "bad" ? refused : undefined)),
    );
    const outcomes = await Promise.all([send("queue", [{ body: "good" }]), send("queue", [{ body: "bad" }])]);
    expect(outcomes).toEqual([[undefined], [refused]]);
  });
});

const trace = "Root=1-5e6722a7-cc2ae14db7ae98d0da47aeab;Parent=53995c3f42cd8ad8;Sampled=1";

it("the trace of an invocation goes along with each call to AWS, for SQS to carry it on", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "test");
  vi.stubEnv("_X_AMZN_TRACE_ID", trace);
  const seen: unknown[] = [];
  const service = await startTestProvider();
  service.answer = ({ headers }) => {
    seen.push(headers["x-amzn-trace-id"]);
    return { json: { Responses: [{}] } };
  };
  const endpoint = service.url;
  const access = {
    endpoint,
    region: "eu-central-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  };
  await sqsSender(new SQSClient(access))(`${endpoint}/000000000000/queue`, [{ body: "{}" }]);
  await linkTable(batchingWriter(new DynamoDBClient(access), "table"))("user", "account");
  await service.close();
  vi.unstubAllEnvs();
  expect(seen).toEqual([trace, trace]);
});
