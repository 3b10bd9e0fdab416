import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";

export function addTo(group: Command): void {
  addCommand(group, {
    name: "show",
    summary:
      "Shows all addresses and secrets of a system on this machine, and the environment for a subscriber's program.",
    examples: ["npx income-events local show", "npx income-events local show --json    for programs"],
    run: showSystem,
  });
}

async function showSystem({ deployment, terminal }: Operation): Promise<void> {
  const { stage, local } = deployment;
  if (local === undefined)
    throw CommandError.usage(`The stage ${stage} does not run on this machine: leave --outputs out.`);
  const { details = "It was started by a program that wrote no addresses.", ...place } = local;
  terminal.result({ stage, ...place, details }, details);
}
