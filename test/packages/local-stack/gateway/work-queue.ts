import { CreateQueueCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll } from "vitest";
import { account, clients, type LocalSystem, region, startLocalSystem } from "./local-system.ts";

export const queueArn = `arn:aws:sqs:${region}:${account}:work`;

/** A system with one queue. */
export function workQueueFixture() {
  let system: LocalSystem;
  let QueueUrl: string;

  beforeAll(async () => {
    system = await startLocalSystem();
    const { sqs } = clients(system, system.operator);
    QueueUrl = (await sqs.send(new CreateQueueCommand({ QueueName: "work" }))).QueueUrl ?? "";
  });

  afterAll(async () => {
    await system.close();
  });

  async function received(): Promise<(string | undefined)[]> {
    const { sqs } = clients(system, system.operator);
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    return Messages.map(({ Body }) => Body);
  }

  return {
    get system() {
      return system;
    },
    get QueueUrl() {
      return QueueUrl;
    },
    received,
  };
}
