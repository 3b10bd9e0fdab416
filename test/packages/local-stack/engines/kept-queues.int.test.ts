import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ChangeMessageVisibilityBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";
import { clients, createQueue, startLocalSystem } from "../gateway/local-system.ts";

/** The gateway with a persistent queue that has this name in each start. */
async function start(keep: string) {
  const system = await startLocalSystem({ keep });
  const { sqs } = clients(system, system.operator);
  const QueueUrl = await createQueue(system, "kept");
  const command = { QueueUrl, MessageSystemAttributeNames: ["ApproximateReceiveCount" as const] };
  const receive = async () => (await sqs.send(new ReceiveMessageCommand(command))).Messages?.[0];
  return { sqs, QueueUrl, receive, stop: system.close };
}

test("a message of a persistent queue is redelivered when it is released, also after a restart", async () => {
  const keep = mkdtempSync(join(tmpdir(), "kept-queues-"));
  onTestFinished(() => rmSync(keep, { recursive: true, force: true }));
  const { sqs, QueueUrl, receive, stop } = await start(keep);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "one" }));
  for (const ApproximateReceiveCount of ["1", "2"]) {
    const message = await receive();
    expect(message).toMatchObject({ Body: "one", Attributes: { ApproximateReceiveCount } });
    const Entries = [{ Id: "0", ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout: 0 }];
    const released = await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
    expect(released.Successful).toHaveLength(1);
  }
  await stop();

  const second = await start(keep);
  onTestFinished(second.stop);
  expect(await second.receive()).toMatchObject({ Body: "one", Attributes: { ApproximateReceiveCount: "3" } });
});
