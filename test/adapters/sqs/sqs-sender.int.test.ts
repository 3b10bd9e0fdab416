import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type BatchResultErrorEntry, SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { linkTable } from "../../../adapters/dynamodb/event-table.ts";
import { batchingSender, type Outgoing, singleSender, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { CountdownLatch } from "../../../functions/fetch/fetcher.ts";
import { startTestSystem } from "../../support/engines.ts";
import { startTestProvider } from "../../support/test-provider.ts";

let queueUrl: string;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(async () => {
  queueUrl = await system.createQueue();
});

const send = (messages: readonly Outgoing[]) => sqsSender(system.sqs)(queueUrl, messages);
const requests = () => system.calls().get("test sqs:SendMessageBatch") ?? 0;
const bodies = async (url = queueUrl) => (await system.drain(url)).map(({ Body }) => Body).toSorted();
const numbered = (count: number, filler = "") =>
  Array.from({ length: count }, (_, index) => ({ body: `${index}${filler}` }));

async function requestsFor(messages: readonly Outgoing[]): Promise<number> {
  const before = requests();
  expect(await send(messages)).toEqual(messages.map(() => undefined));
  return requests() - before;
}

test("an empty list sends no request", async () => {
  expect(await requestsFor([])).toBe(0);
});

test.each([
  [1, 1],
  [10, 1],
  [11, 2],
  [95, 10],
])("%i small messages are sent in %i requests of ten", async (count, expected) => {
  expect(await requestsFor(numbered(count))).toBe(expected);
  const sent = numbered(count).map(({ body }) => body);
  expect(await bodies()).toEqual(sent.toSorted());
});

describe("messages that together are over 1 MiB are sent in several requests:", () => {
  test.each([
    ["letters", "x"],
    ["characters of three bytes", "…"],
  ])("%s", async (_, character) => {
    const filler = character.repeat(Math.floor(300_000 / Buffer.byteLength(character)));
    expect(await requestsFor(numbered(7, filler))).toBe(3);
    expect(await bodies()).toHaveLength(7);
  });

  test("a message of nearly 1 MiB goes alone", async () => {
    expect(await requestsFor([{ body: "a" }, { body: "x".repeat(1_048_576) }, { body: "b" }])).toBe(3);
    expect(await bodies()).toHaveLength(3);
  });
});

test("a message over the limit is reported alone, and the others are sent", async () => {
  const results = await send([{ body: "a" }, { body: "x".repeat(1_048_577) }, { body: "b" }]);
  expect(results).toEqual([undefined, expect.objectContaining({ type: "retryable" }), undefined]);
  expect(await bodies()).toEqual(["a", "b"]);
});

test("each message has its own delay, and its own reason as an attribute", async () => {
  await send([
    { body: "later", delayInSeconds: 900 },
    { body: "now", delayInSeconds: 0, reason: "because: ü" },
    { body: "plain" },
  ]);
  const messages = await system.drain(queueUrl);
  expect(
    messages.map(({ Body, MessageAttributes }) => [Body, MessageAttributes?.reason?.StringValue]).toSorted(),
  ).toEqual([
    ["now", "because: ü"],
    ["plain", undefined],
  ]);
});

test("a reason is cut at 256 characters", async () => {
  await send([{ body: "x", reason: "r".repeat(5_000) }]);
  const [message] = await system.drain(queueUrl);
  expect(message?.MessageAttributes?.reason?.StringValue).toBe("r".repeat(256));
});

test("a redrive count is sent beside the reason; an attribute that does not fit is left out", async () => {
  const returns = "1 run";
  const room = 1_048_576 - Buffer.byteLength(`returnsString${returns}`);
  const all = ["whole", "x".repeat(room), "x".repeat(room + 1)];
  expect(await send(all.map((body) => ({ body, reason: "because", returns })))).toEqual(
    all.map(() => undefined),
  );
  const messages = await system.drain(queueUrl);
  const shown = messages.map(({ Body = "", MessageAttributes = {} }) => [
    Body.length,
    MessageAttributes.returns?.StringValue,
    MessageAttributes.reason?.StringValue,
  ]);
  expect(shown.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [5, returns, "because"],
    [room, returns, undefined],
    [room + 1, undefined, undefined],
  ]);
});

test("a missing queue is reported for each message", async () => {
  const results = await sqsSender(system.sqs)(`${queueUrl}-gone`, numbered(12));
  expect(results).toHaveLength(12);
  for (const failure of results) {
    expect(failure).toMatchObject({ type: "retryable", reason: expect.stringMatching(/QueueDoesNotExist/) });
  }
});

/** The engine can fail only whole requests: adds SQS's partial failures to its answers in order. */
function answering(...answers: readonly (readonly BatchResultErrorEntry[])[]) {
  const client = new SQSClient({ region: "eu-central-1", endpoint: "http://127.0.0.1:1" });
  const sent: (string | undefined)[][] = [];
  client.middlewareStack.add(
    (_next, context) => async (args) => {
      expect(context.commandName).toBe(SendMessageBatchCommand.name);
      const { input } = new SendMessageBatchCommand({ ...partsOf(args.input) });
      const Failed = answers[sent.length];
      sent.push((input.Entries ?? []).map(({ MessageBody }) => MessageBody));
      if (Failed === undefined) throw new Error("no answer");
      return { response: {}, output: { $metadata: {}, Successful: [], Failed } };
    },
    { step: "initialize", priority: "high" },
  );
  return { send: sqsSender(client), sent };
}

const theirs = (Id: string) => ({ Id, SenderFault: false, Code: "InternalError" });
const ours = (Id: string) => ({ Id, SenderFault: true, Code: "InvalidMessageContents" });
const retryable = (reason: string) => ({ type: "retryable", reason, delayInSeconds: 0 });

describe("messages that SQS does not accept", () => {
  test("by its own fault are sent again at once, and no others", async () => {
    const { send: sendThere, sent } = answering([theirs("3"), ours("1"), theirs("0")], []);
    const results = await sendThere("queue", numbered(4));
    expect(sent).toEqual([
      ["0", "1", "2", "3"],
      ["0", "3"],
    ]);
    expect(results).toEqual([undefined, retryable("SQS: InvalidMessageContents"), undefined, undefined]);
  });

  test("are reported in order if they fail again", async () => {
    const { send: sendThere, sent } = answering([theirs("3"), ours("1"), theirs("0")], [theirs("3")]);
    const results = await sendThere("queue", numbered(4));
    expect(sent).toHaveLength(2);
    expect(results).toEqual([
      undefined,
      retryable("SQS: InvalidMessageContents"),
      undefined,
      retryable("SQS: InternalError"),
    ]);
  });

  test("are the only ones reported if the second request fails", async () => {
    const { send: sendThere } = answering([theirs("2")]);
    const results = await sendThere("queue", numbered(3));
    expect(results).toEqual([undefined, undefined, expect.objectContaining({ type: "retryable" })]);
  });
});

function partsOf(input: object) {
  return { QueueUrl: undefined, Entries: undefined, ...input };
}

describe("a sender of single messages", () => {
  const sendSingly = (messages: readonly Outgoing[], url = queueUrl) =>
    singleSender(system.sqs)(url, messages);

  test("sends each in its own request, with its reason", async () => {
    const before = system.calls().get("test sqs:SendMessage") ?? 0;
    expect(await sendSingly([{ body: "a", reason: "why" }, { body: "b" }])).toEqual([undefined, undefined]);
    expect((system.calls().get("test sqs:SendMessage") ?? 0) - before).toBe(2);
    const found = (await system.drain(queueUrl)).map(({ Body, MessageAttributes }) => [
      Body,
      MessageAttributes?.reason?.StringValue,
    ]);
    expect(found.toSorted()).toEqual([
      ["a", "why"],
      ["b", undefined],
    ]);
  });

  test("gives each the group and deduplication ids that a FIFO queue requires", async () => {
    const fifo = await system.createQueue({ FifoQueue: "true" });
    for (const body of ["first", "second", "second"])
      expect(await sendSingly([{ body, group: body, deduplication: body }], fifo)).toEqual([undefined]);
    const found = (await system.drain(fifo)).map(({ Body }) => Body);
    expect(found.toSorted()).toEqual(["first", "second"]);
  });

  test("reports which message was not accepted, and why", async () => {
    const [taken, refused] = await sendSingly([{ body: "a" }, { body: "x".repeat(1_048_577) }]);
    expect(taken).toBeUndefined();
    expect(refused).toMatchObject({ reason: expect.stringMatching(/./) });
    expect(await bodies()).toEqual(["a"]);
  });
});

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
    expect(await bodies()).toEqual(["a", "b", "c"]);
  });

  test("share one request if the first sender waits for the other", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const before = requests();
    const latch = new CountdownLatch(["first", "last"]);
    const quick = send(queueUrl, [{ body: "a" }], () => latch.wait("first", 3_600_000));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([quick, send(queueUrl, [{ body: "b" }], () => latch.wait("last", 3_600_000))]);
    expect(requests() - before).toBe(1);
  });

  test("use separate requests for different queues", async () => {
    const send = batchingSender(sqsSender(system.sqs));
    const other = await system.createQueue();
    await Promise.all([send(queueUrl, [{ body: "a" }]), send(other, [{ body: "b" }])]);
    expect([await bodies(), await bodies(other)]).toEqual([["a"], ["b"]]);
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

test("the trace of an invocation goes along with each call to AWS, for SQS to carry it on", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "test");
  vi.stubEnv("_X_AMZN_TRACE_ID", trace);
  const seen: unknown[] = [];
  const service = await startTestProvider();
  service.answer = ({ headers }) => {
    seen.push(headers["x-amzn-trace-id"]);
    return { json: { Responses: [{}] } };
  };
  const endpoint = service.url;
  const access = { ...system.access, endpoint };
  await sqsSender(new SQSClient(access))(`${endpoint}/000000000000/queue`, [{ body: "{}" }]);
  await linkTable(batchingWriter(new DynamoDBClient(access), "table"))("user", "account");
  await service.close();
  vi.unstubAllEnvs();
  expect(seen).toEqual([trace, trace]);
});
