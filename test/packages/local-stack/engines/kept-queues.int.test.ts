import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { secretHeadersFor } from "@income-events/local-stack/engines/run-secret.ts";
import { expect, onTestFinished, test } from "vitest";

const region = "eu-central-1";

async function start(keep: string) {
  const { url, close } = await startQueuesAndObjects({ region, keep });
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const sqs = new SQSClient({ region, endpoint: new URL(url).origin, credentials });
  sqs.middlewareStack.add(
    (next) => (args) => {
      const headers: unknown = Reflect.get(Object(args.request), "headers");
      Object.assign(Object(headers), secretHeadersFor(url));
      return next(args);
    },
    { step: "build" },
  );
  const stop = async () => {
    sqs.destroy();
    await close();
  };
  return { sqs, stop };
}

test("a message of a persistent queue is redelivered when it is released, also after a restart", async () => {
  const keep = mkdtempSync(join(tmpdir(), "kept-queues-"));
  onTestFinished(() => rmSync(keep, { recursive: true, force: true }));
  const first = await start(keep);
  const { QueueUrl } = await first.sqs.send(new CreateQueueCommand({ QueueName: "kept" }));
  await first.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
  const receive = ({ sqs }: typeof first) =>
    sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ["ApproximateReceiveCount"] }),
    );
  const giveBack = async (ReceiptHandle: string | undefined) => {
    const Entries = [{ Id: "0", ReceiptHandle, VisibilityTimeout: 0 }];
    return first.sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  };
  for (const count of ["1", "2"]) {
    const { Messages: [message] = [] } = await receive(first);
    expect(message).toMatchObject({ Body: "one", Attributes: { ApproximateReceiveCount: count } });
    expect((await giveBack(message?.ReceiptHandle)).Successful).toHaveLength(1);
  }
  await first.stop();

  const second = await start(keep);
  onTestFinished(second.stop);
  const { Messages = [] } = await receive(second);
  expect(Messages).toMatchObject([{ Body: "one", Attributes: { ApproximateReceiveCount: "3" } }]);
});
