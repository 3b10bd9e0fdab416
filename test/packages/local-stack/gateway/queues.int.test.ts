import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from "@aws-sdk/client-sqs";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { afterAll, describe, expect, test } from "vitest";
import { account, clients, createQueue, region, startLocalSystem } from "./local-system.ts";

let created = 0;

const system = await startLocalSystem();
afterAll(() => system.close());
const { sqs } = clients(system, system.operator);

async function newQueue(isFifo = false): Promise<{ url: string; arn: string; name: string }> {
  created += 1;
  const name = `queue-${created}${isFifo ? ".fifo" : ""}`;
  const url = await createQueue(system, name, isFifo ? { FifoQueue: "true" } : {});
  return { url, arn: `arn:aws:sqs:${region}:${account}:${name}`, name };
}

describe("QueueUrls", () => {
  test("carry the gateway's own origin in every answer", async () => {
    const queue = await newQueue();
    const byName = await sqs.send(new GetQueueUrlCommand({ QueueName: queue.name }));
    const listed = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: queue.name }));
    const expected = `${system.gateway.url}/${account}/${queue.name}`;
    expect([queue.url, byName.QueueUrl, listed.QueueUrls]).toEqual([expected, expected, [expected]]);
  });
});

describe("permissions", () => {
  test("by a tag are for queues that carry it with that value, as long as they do", async () => {
    const [own, others, untagged] = [await newQueue(), await newQueue(), await newQueue()];
    const operator = clients(system, system.operator).sqs;
    await operator.send(new TagQueueCommand({ QueueUrl: own.url, Tags: { "a:owner": "one" } }));
    await operator.send(new TagQueueCommand({ QueueUrl: others.url, Tags: { "a:owner": "two" } }));
    const statement = {
      Effect: "Allow",
      Action: "sqs:ReceiveMessage",
      Resource: "*",
      Condition: { StringEquals: { "aws:ResourceTag/a:owner": "one" } },
    };
    const policies = [parsePolicy({ Version: "2012-10-17", Statement: statement }, "tagged")];
    const caller = { ...system.caller("tagged"), policies };
    system.gateway.register(caller);
    const { sqs } = clients(system, caller);
    const receive = ({ url }: typeof own) => sqs.send(new ReceiveMessageCommand({ QueueUrl: url }));
    await receive(own);
    for (const queue of [others, untagged]) await expect(receive(queue)).rejects.toThrow("not authorized");
    await operator.send(new UntagQueueCommand({ QueueUrl: own.url, TagKeys: ["a:owner"] }));
    await expect(receive(own)).rejects.toThrow("not authorized");
  });

  test("a denial is not retried", async () => {
    const queue = await newQueue();
    const caller = system.caller("retrying");
    const before = system.gateway.denials().length;
    const { sqs } = clients(system, caller);
    sqs.config.maxAttempts = async () => 3;
    await expect(sqs.send(new ReceiveMessageCommand({ QueueUrl: queue.url }))).rejects.toThrow(
      "not authorized",
    );
    expect(system.gateway.denials().length - before).toBe(1);
  });

  test("batches need the permission of the single operation", async () => {
    const queue = await newQueue();
    const caller = system.caller(
      "batches",
      ["sqs:SendMessage", queue.arn],
      ["sqs:ReceiveMessage", queue.arn],
      ["sqs:DeleteMessage", queue.arn],
    );
    const { sqs } = clients(system, caller);
    const entries = ["1", "2"].map((Id) => ({ Id, MessageBody: Id }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries: entries }));
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queue.url, MaxNumberOfMessages: 10 }),
    );
    const handles = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    const deleted = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queue.url, Entries: handles }));
    expect(deleted.Successful).toHaveLength(2);
    expect(system.gateway.calls().get("batches sqs:SendMessageBatch")).toBe(1);
    const changing = sqs.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: queue.url,
        Entries: handles.map((handle) => ({ ...handle, VisibilityTimeout: 0 })),
      }),
    );
    await expect(changing).rejects.toThrow("sqs:ChangeMessageVisibility on resource");
  });
});

test.each([
  ["a standard queue counts no more, and is at its back", false, "young"],
  ["a FIFO queue still counts, and is at its front", true, "old"],
])("a message that was received three times of %s", async (_, isFifo, next) => {
  const { url: QueueUrl, name } = await newQueue(isFifo);
  const send = (MessageBody: string) => {
    const order = { MessageGroupId: "g", MessageDeduplicationId: MessageBody };
    return sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...(isFifo && order) }));
  };
  const receive = async () => {
    const once = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 });
    return (await sqs.send(once)).Messages?.[0]?.Body;
  };
  const age = () => system.gateway.queueGauge(name, "ApproximateAgeOfOldestMessage");
  await send("old");
  for (let receives = 0; receives < 3; receives += 1) {
    expect(await age()).toBeTypeOf("number");
    expect(await receive()).toBe("old");
  }
  expect(typeof (await age())).toBe(isFifo ? "number" : "undefined");
  await send("young");
  expect(await receive()).toBe(next);
});

describe("long polling", () => {
  test("waits until a message comes", async () => {
    const queue = await newQueue();
    const { isReceiving, stop } = noticed();
    const receiving = sqs.send(new ReceiveMessageCommand({ QueueUrl: queue.url, WaitTimeSeconds: 20 }));
    await isReceiving;
    await sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: "at last" }));
    const { Messages } = await receiving;
    stop();
    expect(Messages?.map(({ Body }) => Body)).toEqual(["at last"]);
  });

  test("a caller that went away takes no message with it", async () => {
    const queue = await newQueue();
    // New connections: the engine wakes no poll that begins before it gets the message back.
    const { sqs } = clients(system, system.operator);
    const { isReceiving, stop } = noticed();
    const abort = new AbortController();
    const command = new ReceiveMessageCommand({ QueueUrl: queue.url, WaitTimeSeconds: 20 });
    const receiving = sqs.send(command, { abortSignal: abort.signal });
    await isReceiving;
    abort.abort();
    await expect(receiving).rejects.toMatchObject({ name: "AbortError" });
    stop();
    await sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: "kept" }));
    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queue.url, WaitTimeSeconds: 20 }),
    );
    expect(Messages?.map(({ Body }) => Body)).toEqual(["kept"]);
  });
});

/** Resolves once the gateway receives a call. */
function noticed() {
  const { promise: isReceiving, resolve } = Promise.withResolvers<void>();
  const stop = system.gateway.intercept(async (call, phase) => {
    if (call.action === "sqs:ReceiveMessage" && phase === "before") resolve();
    return undefined;
  });
  return { isReceiving, stop };
}
