import type { Command } from "commander";
import { messageSource } from "../../../domain/message/message-types.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { followTable } from "../events/follow-table.ts";
import { subscriberNamed } from "../events/subscriber-named.ts";
import { messageLine, messagesOf } from "../events/subscriber-tail.ts";

export function addSubscribersTail(group: Command): void {
  addCommand(
    group,
    {
      name: "tail <name>",
      summary:
        "Shows what a subscriber is sent from now on, until Ctrl-C. Its queue is left alone: the messages are made from the table's stream, as the relay makes them. Not shown is what reaches the queue in another way: replays, redriven letters, tests, erasures.",
      examples: [
        "npx income-events subscribers tail everything",
        "npx income-events subscribers tail everything --json | jq .id    whole messages, for programs",
      ],
    },
    tail,
  );
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
