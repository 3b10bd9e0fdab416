import type { Command } from "commander";
import { present } from "../../../domain/core/parse.ts";
import { addCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { choiceFlag, sinceFlag } from "../core/flags.ts";
import { commandLine } from "../core/text.ts";
import { type EntrySearch, entryText, logLevels, stageEntries } from "../logs/log-entries.ts";

type Flags = { readonly since: string; readonly level?: string };

/** Minimum length of an id's prefix; shorter ones would match other ids. */
const shortestId = 8;

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "logs [id]",
    summary:
      "Shows the log entries of all functions in order: about one event, message or request by its id or a part of it, about one user or account by its whole id, or all since a time.",
    examples: [
      "npx income-events logs o3EN73myQKUP-MTtWRdsl6x-F8jygvstM-z3GQ0gb34",
      "npx income-events logs --level WARN --since 15m",
      "npx income-events logs 6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60 --since 7d --outputs outputs.json --json",
    ],
    run: async (operation, flags, id?: string) => {
      const { deployment, terminal } = operation;
      const since = sinceFlag(flags.since, new Date()) ?? "";
      const level = choiceFlag("--level", flags.level?.toUpperCase(), logLevels);
      if (id !== undefined && id.length < shortestId)
        throw CommandError.usage(`<id> ${id}: give at least ${shortestId} characters of it.`);
      const entries = await stageEntries(operation, present<EntrySearch>({ since, text: id, level }));
      // Without this check, a mistyped id would look like one without log lines.
      if (entries.length === 0 && id !== undefined)
        throw new CommandError(
          "nobody",
          `No log entry of ${id} since ${since}. Choose an earlier --since, and write a user's or account's id whole. ` +
            commandLine`List a user's events: npx income-events events list --user ${id}`,
        );
      terminal.result(
        { stage: deployment.stage, entries },
        entries.length === 0 ? `Nothing was logged since ${since}.` : entries.map(entryText).join("\n"),
      );
    },
  })
    .option("--since <time>", "a date, a date-time, or how long ago (90m, 24h, 7d)", "1h")
    .option("--level <level>", `lowest level: ${logLevels.join(", ")}`)
    // One event's id in 64 begins with "-".
    .allowUnknownOption();
}
