import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { type LogEntry, selectEntries } from "@income-events/cli/logs/log-entries.ts";
import { stageLogLines } from "@income-events/cli/logs/log-lines.ts";
import { textPattern } from "../../../adapters/aws/log-groups.ts";
import { type Asked, param } from "../route.ts";

/** What all functions have logged of an id since a time (ISO 8601), in order. */
export async function entriesOf(
  operation: Operation,
  since: string,
  id: string,
): Promise<readonly LogEntry[]> {
  const search = { since: new Date(since), pattern: textPattern(id) };
  return selectEntries(await stageLogLines(operation, search), { since, text: id });
}

/** @throws CommandError where it is too short to be one */
export function idIn(asked: Asked): string {
  const id = param(asked, "id") ?? "";
  if (id.length >= 8) return id;
  throw new CommandError("usage", `The id ${id}: give 8 characters of it at least.`);
}
