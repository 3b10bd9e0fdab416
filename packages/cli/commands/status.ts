import type { Command } from "commander";
import { addCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag, sinceFlag, type TextFlags } from "../core/flags.ts";
import { sectionStatus, sections } from "../status/sections.ts";
import { stageStatus } from "../status/stage-status.ts";
import { statusText } from "../status/status-text.ts";

export function addTo(program: Command): void {
  addCommand<TextFlags<"section" | "since">>(program, {
    name: "status",
    summary:
      "Shows the stage on one screen: queues, last events, token, webhooks, alarms. --section shows one part in full.",
    examples: [
      "npx income-events status",
      "npx income-events status --section token --stage prod --outputs outputs.json",
      "npx income-events status --section provider --since 7d    with the history of seven days",
      "npx income-events status --json    for programs",
    ],
    run: async (operation, flags) => {
      const { terminal } = operation;
      const section = choiceFlag("--section", flags.section, sections);
      const since = sinceFlag(flags.since, new Date());
      if (since !== undefined && section !== "provider")
        throw CommandError.usage("--since shows what happened at the provider: add --section provider.");
      if (section !== undefined) return terminal.result(...(await sectionStatus(section, operation, since)));
      const status = await stageStatus(operation, () => new Date());
      terminal.result(status, statusText(status, terminal.paint));
    },
  })
    .option("--section <name>", `one of ${sections.join(", ")}`)
    .option(
      "--since <time>",
      "with --section provider: history since a date, a date-time, or a time ago (90m, 24h, 7d)",
    );
}
