import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { expect, onTestFinished, test } from "vitest";

const region = "eu-central-1";

/** An engine, with calls to it as the gateway makes them. */
async function startEngine() {
  const { queues, close } = await startQueuesAndObjects({ region });
  onTestFinished(close);
  const call = async (action: string, input: object): Promise<void> => {
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
    const body = Buffer.from(JSON.stringify(input));
    expect((await queues.send({ method: "POST", target: "/", headers, body })).status).toBe(200);
  };
  const look = (name: string) =>
    queues.send({ method: "GET", target: `/_fauxqs/queues/${name}`, headers: {}, body: Buffer.alloc(0) });
  return { call, look };
}

test("a look at a queue counts its messages, and carries none of them however large they are", async () => {
  const { call, look } = await startEngine();
  const QueueUrl = `http://sqs.${region}.localhost/000000000000/full`;
  await call("CreateQueue", { QueueName: "full" });
  const before = Date.now();
  await call("SendMessage", { QueueUrl, MessageBody: "x".repeat(200_000) });
  const after = Date.now();
  await call("ReceiveMessage", { QueueUrl });
  await call("SendMessage", { QueueUrl, MessageBody: "y".repeat(200_000) });
  await call("SendMessage", { QueueUrl, MessageBody: "z", DelaySeconds: 900 });
  const { body } = await look("full");
  const { oldestSent, ...counts } = JSON.parse(body.toString());
  expect(counts).toEqual({ ready: 1, delayed: 1, inflight: 1 });
  expect(oldestSent).toBeGreaterThanOrEqual(before);
  expect(oldestSent).toBeLessThanOrEqual(after);
  expect(body.length).toBeLessThan(200);
});

test("a look at an empty queue has no oldest message, and one at no queue is answered 404", async () => {
  const { call, look } = await startEngine();
  await call("CreateQueue", { QueueName: "empty" });
  expect(JSON.parse((await look("empty")).body.toString())).toEqual({ ready: 0, delayed: 0, inflight: 0 });
  expect((await look("none")).status).toBe(404);
});
