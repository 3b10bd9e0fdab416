import type { Command } from "commander";
import type { DeadLetter } from "../../domain/recovery/dead-letter.ts";
import { contentOfDeadLetter } from "../../domain/recovery/dead-letter-content.ts";
import { CommandError } from "../core/command-error.ts";

/** Which dead letters a command is about: all, or those that both flags fit. */
export type Selection = { readonly reason?: string; readonly id?: string };

export function addSelection(command: Command): Command {
  return command
    .option("--reason <text>", "only those whose reason has this text in it")
    .option("--id <id>", "only those with this id: the event's, the message's, or SQS's own");
}

/** @throws CommandError where a flag is empty: it would mean all of them */
export function checkSelection(selection: Selection): void {
  for (const name of ["reason", "id"] as const) {
    if (selection[name]?.trim() === "")
      throw new CommandError(
        "usage",
        `--${name} is empty. Give it a text, or leave it out for all dead letters.`,
      );
  }
}

export function isSelected(deadLetter: DeadLetter, { reason, id }: Selection): boolean {
  if (reason !== undefined && !reasonOf(deadLetter).includes(reason)) return false;
  return id === undefined || id === deadLetter.messageId || id === contentOfDeadLetter(deadLetter.body).id;
}

/** Why a dead letter lies there, in words. */
export function reasonOf({ reason }: DeadLetter): string {
  return reason ?? "failed each time it was received";
}
