import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Command } from "commander";
import { jsonText } from "../../../domain/event/json-text.ts";
import { messageSource } from "../../../domain/message/message-types.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { subscriberNamed } from "../events/subscriber-named.ts";

export function addSubscribersTest(group: Command): void {
  addCommand(
    group,
    {
      name: "test <name>",
      summary: "Sends a test message to one subscriber's queue, whatever its filter says.",
      examples: [
        "npx income-events subscribers test everything",
        "npx income-events subscribers test everything --json    prints the message's id for a program",
      ],
    },
    testSubscriber,
  );
}

export async function testSubscriber(
  { deployment, clients, terminal }: Operation,
  _: object,
  name = "",
): Promise<void> {
  const { stage } = deployment;
  const { queueUrl } = subscriberNamed(deployment, name);
  const message = testMessage(randomUUID(), name, messageSource(stage), new Date());
  await clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: jsonText(message) }));
  terminal.result(
    { stage, subscriber: name, message },
    `Sent to ${name}: ${message.type} ${message.id}. Its reader gets it as any other message; it announces nothing.`,
  );
}
