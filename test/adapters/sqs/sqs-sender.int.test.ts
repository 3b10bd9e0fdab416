import { type BatchResultErrorEntry, SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Outgoing, singleSender, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { startTestSystem } from "../../support/engines.ts";

let queueUrl: string;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(async () => {
  queueUrl = await system.createQueue();
});

const send = (messages: readonly Outgoing[]) => sqsSender(system.sqs)(queueUrl, messages);
const requests = () => system.calls().get("test sqs:SendMessageBatch") ?? 0;
const bodies = async () => (await system.drain(queueUrl)).map(({ Body }) => Body);
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
  expect((await bodies()).toSorted()).toEqual(
    numbered(count)
      .map(({ body }) => body)
      .toSorted(),
  );
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
  expect((await bodies()).toSorted()).toEqual(["a", "b"]);
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
