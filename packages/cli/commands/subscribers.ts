import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Command } from "commander";
import { jsonText } from "../../../domain/event/json-text.ts";
import { messageSource } from "../../../domain/message/message-types.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { followTable } from "../events/event-tail.ts";
import { messageLine, messagesOf } from "../events/subscriber-tail.ts";
import { subscriberNamed } from "../status/work-queues.ts";

export function addTo(group: Command): void {
  addCommand(group, {
    name: "tail <name>",
    summary:
      "Follows a subscriber's messages until Ctrl-C. Derives them from the table's stream, as the relay does, and does not read the queue: replays, redrives, tests and erasures are not shown.",
    examples: [
      "npx income-events subscribers tail everything",
      "npx income-events subscribers tail everything --json | jq .id    complete messages, for programs",
    ],
    run: tail,
  });
  addCommand(group, {
    name: "test <name>",
    summary: "Sends a test message to one subscriber's queue, regardless of its filter.",
    examples: [
      "npx income-events subscribers test everything",
      "npx income-events subscribers test everything --json    print the message's id for a program",
    ],
    run: testSubscriber,
  });
}

async function tail(operation: Operation, _: object, name = ""): Promise<void> {
  const { deployment, terminal } = operation;
  const subscriber = subscriberNamed(deployment, name);
  const documentsUrl = deployment.output("DocumentsUrl");
  const origin = { source: messageSource(deployment.stage), documentsUrl };
  for await (const record of followTable(operation, `what ${name} is sent`)) {
    for (const message of messagesOf(record, subscriber, origin)) {
      terminal.result(message, messageLine(message));
    }
  }
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
