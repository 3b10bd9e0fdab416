import type { Command } from "commander";
import { followStream } from "../../adapters/streams/stream-follower.ts";
import { streamOf } from "../../adapters/streams/table-stream.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
import { happeningLine, happeningOf } from "../events/event-tail.ts";

export function addEventsTail(group: Command): void {
  addCommand(
    group,
    {
      name: "tail",
      summary:
        "Follows what happens from now on, until Ctrl-C: events that come, how they are judged, data that is fetched. It is the second reader of the table's stream, beside the relay: a third one slows all of them down, so run one at a time.",
      examples: [
        "npx income-events events tail",
        "npx income-events events tail --json | jq 'select(.type == \"account.connected\")'",
      ],
    },
    tail,
  );
}

async function tail({ deployment, clients, terminal }: Operation): Promise<void> {
  using interruption = awaitInterruption();
  const { signal } = interruption;
  const stream = await streamOf(clients.dynamodb, deployment.output("TableName"));
  const records = followStream(clients.dynamodbStreams, stream, {
    signal,
    wait: (seconds) => waitUnlessAborted(seconds, signal),
    onReady: () => terminal.progress(`Following the stage ${deployment.stage}. Ctrl-C ends it.`),
    onTrouble: (reason) => terminal.progress(`${reason}: it goes on by itself.`),
  });
  for await (const some of records) {
    for (const record of some) {
      const happening = happeningOf(record, new Date());
      if (happening !== undefined) terminal.result(happening, happeningLine(happening));
    }
  }
}
