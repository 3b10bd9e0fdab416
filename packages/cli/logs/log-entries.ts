import {
  type LogLines,
  type LogSearch,
  logPages,
  stackLogGroups,
  textPattern,
} from "../../../adapters/aws/log-groups.ts";
import { type Fields, isFields, jsonIn, optionalText, present } from "../../../domain/core/parse.ts";
import { loggedText } from "../../../domain/event/subjects.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { oneLine } from "../core/text.ts";

export const logLevels = ["INFO", "WARN", "ERROR"] as const;
export type LogLevel = (typeof logLevels)[number];

export type LogEntry = Fields & { readonly timestamp: string; readonly level: string };

export type LogFilter = {
  /** ISO 8601; older lines are skipped. */
  readonly since: string;
  /** The line contains this text: an id or a part of one, or the whole id of a user or account. */
  readonly text?: string;
  readonly level?: LogLevel;
};

/** The entries that match a filter, oldest first. Skips lines that a function did not write itself. */
export function selectEntries(lines: readonly string[], filter: LogFilter): readonly LogEntry[] {
  const texts = filter.text === undefined ? [""] : textsOf(filter.text);
  return lines
    .filter((line) => texts.some((text) => line.includes(text)))
    .flatMap((line) => parseEntry(line) ?? [])
    .filter(({ timestamp, level }) => timestamp >= filter.since && isOfLevel(level, filter.level))
    .toSorted((one, other) =>
      one.timestamp < other.timestamp ? -1 : Number(one.timestamp > other.timestamp),
    );
}

/** The forms of a text in log lines: unchanged, and as the digest of a user's or account's id. */
export function textsOf(text: string): readonly string[] {
  return [text, loggedText(text)];
}

function parseEntry(line: string): LogEntry | undefined {
  const fields = jsonIn(line);
  if (!isFields(fields)) return undefined;
  const [timestamp, level] = [optionalText(fields, "timestamp"), optionalText(fields, "level")];
  return timestamp === undefined || level === undefined ? undefined : { ...fields, timestamp, level };
}

function isOfLevel(level: string, lowest: LogLevel = "INFO"): boolean {
  const names: readonly string[] = logLevels;
  const rank = names.indexOf(level);
  return rank === -1 || rank >= names.indexOf(lowest);
}

/** A log line for people: time, level, function, code, then the other fields. */
export function entryText(entry: LogEntry): string {
  const { timestamp, level, function: name, code, requestId: _, ...rest } = entry;
  const fields = Object.entries(rest).map(([field, value]) => `${field}=${JSON.stringify(value)}`);
  const words = [timestamp, level.padEnd(5), String(name ?? "-"), String(code ?? "-"), ...fields];
  return oneLine(words.join("  "));
}

export type EntrySearch = LogFilter &
  Pick<LogSearch, "pattern"> & { readonly until?: string; readonly functions?: RegExp };

/** The entries of a pipeline's functions that match a filter, oldest first: see `stageLogLines`. */
export async function stageEntries(
  place: Place,
  { functions, until, pattern, ...filter }: EntrySearch,
  onRead?: (page: LogLines) => void,
): Promise<readonly LogEntry[]> {
  const { since, text } = filter;
  const search = {
    since: new Date(since),
    ...present({
      functions,
      until: until === undefined ? undefined : new Date(until),
      pattern: text === undefined ? pattern : textPattern(...textsOf(text)),
    }),
  };
  return selectEntries(await stageLogLines(place, search, onRead), filter);
}

/**
 * Log lines of a pipeline's functions, unordered, without those of other pipelines in its stack.
 * @param search `functions` selects by the logical ids of log groups; if undefined, all
 * @param onRead called after each page
 * @throws CommandError if there is no such log group, because an empty result would be misleading
 */
export async function stageLogLines(
  { deployment, clients }: Place,
  { functions = /Logs/, ...search }: LogSearch & { readonly functions?: RegExp },
  onRead: (page: LogLines) => void = () => undefined,
): Promise<readonly string[]> {
  const { stack, resources } = deployment;
  const groups = await stackLogGroups(
    clients.cloudFormation,
    stack,
    (logicalId) => resources.test(logicalId) && functions.test(logicalId),
  );
  if (groups.length === 0)
    throw CommandError.noDeployment(
      `No logs were searched: the stack ${stack} lists no log group of these functions. Deploy it, or write its outputs ` +
        "again: npx cdk deploy --outputs-file outputs.json",
    );
  const lines: string[] = [];
  for await (const page of logPages(clients.cloudWatchLogs, groups, search)) {
    for (const line of page.lines) lines.push(line);
    onRead(page);
  }
  return lines;
}
