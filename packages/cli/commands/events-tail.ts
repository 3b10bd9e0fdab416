import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { followTable, happeningLine, happeningOf } from "../events/event-tail.ts";

export function addTo(group: Command): void {
  addCommand(group, {
    name: "tail",
    summary:
      "Follows events until Ctrl-C: received, applied, data fetched. It reads the table's stream beside the relay; run only one at a time, because a third reader slows all of them down.",
    examples: [
      "npx income-events events tail",
      "npx income-events events tail --json | jq 'select(.type == \"account.connected\")'",
    ],
    run: tail,
  });
}

async function tail(operation: Operation): Promise<void> {
  const { deployment, terminal } = operation;
  for await (const record of followTable(operation, `the stage ${deployment.stage}`)) {
    const happening = happeningOf(record, new Date());
    if (happening !== undefined) terminal.result(happening, happeningLine(happening));
  }
}
