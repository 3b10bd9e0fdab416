import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag, durationFlag, sinceFlag } from "../core/flags.ts";
import { awaitInterruption, waitUnlessAborted } from "../core/interruption.ts";
import { type Shown, sectionStatus, sections } from "../status/sections.ts";
import { stageStatus } from "../status/stage-status.ts";
import { statusText } from "../status/status-text.ts";

type Flags = { readonly watch?: string | true; readonly section?: string; readonly since?: string };

const secondsBetweenLooks = 2;

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "status",
    summary:
      "Shows the stage on one screen: queues, last events, token, webhooks, alarms. --section shows one part in full.",
    examples: [
      "npx income-events status",
      "npx income-events status --watch    repeat until Ctrl-C",
      "npx income-events status --section token --stage prod --outputs outputs.json",
      "npx income-events status --section provider --since 7d    with the history of seven days",
      "npx income-events status --json    for programs",
    ],
    run: show,
  })
    .option("--section <name>", `one of ${sections.join(", ")}`)
    .option(
      "--since <time>",
      "with --section provider: history since a date, a date-time, or a time ago (90m, 24h, 7d)",
    )
    .option("--watch [time]", `repeat after this time (default ${secondsBetweenLooks}s), until Ctrl-C`);
}

async function show(operation: Operation, flags: Flags): Promise<void> {
  const { terminal } = operation;
  const section = choiceFlag("--section", flags.section, sections);
  const since = sinceFlag(flags.since, new Date());
  if (since !== undefined && section !== "provider")
    throw CommandError.usage("--since shows what happened at the provider: add --section provider.");
  const look = async (): Promise<Shown> => {
    if (section !== undefined) return sectionStatus(section, operation, since);
    const status = await stageStatus(operation, () => new Date());
    return [status, statusText(status, terminal.paint)];
  };
  if (flags.watch === undefined) return terminal.result(...(await look()));
  const seconds = flags.watch === true ? secondsBetweenLooks : durationFlag("--watch", flags.watch);
  using interruption = awaitInterruption();
  while (!interruption.signal.aborted) {
    terminal.redraw(...(await look()));
    await waitUnlessAborted(seconds, interruption.signal);
  }
}
