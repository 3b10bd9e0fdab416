import { randomUUID } from "node:crypto";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import type { Command } from "commander";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { jsonText } from "../../../domain/event/json.ts";
import type { Subscriber } from "../../../domain/message/message.ts";
import { messageSource } from "../../../domain/message/message-schemas.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { followTable } from "../events/event-tail.ts";
import {
  addAttributes,
  incomeOf,
  maskAttributes,
  messageLine,
  messagesOf,
} from "../events/subscriber-tail.ts";
import { recordsIn } from "../records/known-records.ts";
import { subscriberNamed, subscriberQueues } from "../status/work-queues.ts";

export function addTo(program: Command): void {
  const group = program
    .command("subscribers")
    .description("Tests and follows the services that read the events.");
  addCommand<TailFlags>(group, {
    name: "tail <name>",
    summary:
      "Follows a subscriber's messages until Ctrl-C. Derives them from the table's stream, as the relay does, and does not read the queue: replays, redrives, tests and erasures are not shown.",
    examples: [
      "npx income-events subscribers tail everything",
      "npx income-events subscribers tail everything --reveal    with attributes and income by month",
      "npx income-events subscribers tail everything --json | jq .id    complete messages, for programs",
    ],
    run: async (operation, { reveal = false }, name = "") => {
      const subscriber = subscriberNamed(subscriberQueues(operation.deployment), name);
      const act = { act: "reveal", target: `messages to ${name}` } as const;
      if (reveal) await audited(operation, act, () => follow(operation, subscriber, true));
      else await follow(operation, subscriber, false);
    },
  }).option("--reveal", "show attributes, and the net income by month of income documents: personal data");
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

type TailFlags = { readonly reveal?: boolean };

async function follow(operation: Operation, subscriber: Subscriber, reveal: boolean): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const documentsUrl = deployment.output("DocumentsUrl");
  const origin = { source: messageSource(deployment.stage), documentsUrl };
  const overflow = overflowBucket(deployment.output("OverflowBucketName"), clients.s3);
  const { loadState } = recordsIn(operation);
  for await (const record of followTable(operation, `what ${subscriber.name} is sent`)) {
    for (const plain of messagesOf(record, subscriber, origin)) {
      const message = await addAttributes(plain, loadState);
      const shown = reveal ? message : maskAttributes(message);
      const income = reveal ? await incomeOf(record, message, overflow) : undefined;
      terminal.result({ ...shown, ...(income && { income }) }, messageLine(shown, income));
    }
  }
}

export async function testSubscriber(
  { deployment, clients, terminal }: Operation,
  _: object,
  name = "",
): Promise<void> {
  const { stage } = deployment;
  const { queueUrl } = subscriberNamed(subscriberQueues(deployment), name);
  const message = testMessage(randomUUID(), name, messageSource(stage), new Date());
  await clients.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: jsonText(message) }));
  terminal.result(
    { stage, subscriber: name, message },
    `Sent to ${name}: ${message.type} ${message.id}. Readers skip it.`,
  );
}
