import type { Command } from "commander";
import { followStream } from "../../adapters/streams/stream-follower.ts";
import { streamOf } from "../../adapters/streams/table-stream.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
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

async function tail({ deployment, clients, terminal }: Operation, _: object, name = ""): Promise<void> {
  const subscriber = subscriberNamed(deployment, name);
  using interruption = awaitInterruption();
  const { signal } = interruption;
  const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
  const records = followStream(clients.dynamodbStreams, stream, {
    signal,
    wait: (seconds) => waitUnlessAborted(seconds, signal),
    onReady: () => terminal.progress(`Following what ${name} is sent. Ctrl-C ends it.`),
    onTrouble: (reason) => terminal.progress(`${reason}: it goes on by itself.`),
  });
  for await (const some of records) {
    for (const record of some) {
      for (const message of messagesOf(record, subscriber, `/income-events/${deployment.stage}`)) {
        terminal.result(message, messageLine(message));
      }
    }
  }
}
