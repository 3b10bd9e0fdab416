import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { durationFlag } from "../core/flags.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
import { stageStatus } from "../status/stage-status.ts";
import { statusText } from "../status/status-text.ts";

type Flags = { readonly watch?: string | true };

const secondsBetweenLooks = 2;

export function addStatus(program: Command): void {
  addCommand<Flags>(
    program,
    {
      name: "status",
      summary: "Shows the stage on one screen: queues, last events, token, webhooks at the provider, alarms.",
      examples: [
        "npx income-events status",
        "npx income-events status --watch    again and again, until Ctrl-C",
        "npx income-events status --stage prod --outputs outputs.json",
        "npx income-events status --json    for programs",
      ],
    },
    show,
  ).option("--watch [time]", `again after each such time (default ${secondsBetweenLooks}s), until Ctrl-C`);
}

async function show({ deployment, clients, terminal }: Operation, { watch }: Flags): Promise<void> {
  const look = async () => {
    const status = await stageStatus(deployment, clients, () => new Date());
    return [status, statusText(status, terminal.paint)] as const;
  };
  if (watch === undefined) return terminal.result(...(await look()));
  const seconds = watch === true ? secondsBetweenLooks : durationFlag("--watch", watch);
  using interruption = awaitInterruption();
  while (!interruption.signal.aborted) {
    terminal.redraw(...(await look()));
    await waitUnlessAborted(seconds, interruption.signal);
  }
}
