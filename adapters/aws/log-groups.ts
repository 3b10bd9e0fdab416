import {
  type CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";
import { present } from "../../domain/core/parse.ts";

/** Which lines are searched for. */
export type LogSearch = {
  readonly since: Date;
  readonly until?: Date;
  /** CloudWatch's filter pattern; absent: all lines. */
  readonly pattern?: string;
  /** Selects log groups by the part of their name after the stack's; absent: all of the stack's. */
  readonly groups?: RegExp;
};

/** Some lines, in no order, and how far the search is. */
export type LogLines = {
  readonly lines: readonly string[];
  /** Log groups that are read to their end, and all. */
  readonly done: number;
  readonly of: number;
};

/**
 * The lines of log groups of a stack since a time, page by page: a page may be empty though more follow. CloudFormation
 * names the groups `<stack>-<logical id>-<random>`, the latter two of letters and digits only.
 */
export async function* logPages(
  client: CloudWatchLogsClient,
  stack: string,
  search: LogSearch,
): AsyncGenerator<LogLines> {
  const names = await groupNames(client, `${stack}-`, search.groups);
  let done = 0;
  for (const logGroupName of names) {
    const input = {
      logGroupName,
      startTime: search.since.getTime(),
      ...present({ endTime: search.until?.getTime(), filterPattern: search.pattern }),
    };
    for await (const { events = [], nextToken } of paginateFilterLogEvents({ client }, input)) {
      if (nextToken === undefined) done += 1;
      yield { lines: events.flatMap(({ message }) => message ?? []), done, of: names.length };
    }
  }
}

async function groupNames(client: CloudWatchLogsClient, prefix: string, wanted = /./) {
  const names: string[] = [];
  const input = { logGroupNamePrefix: prefix };
  for await (const { logGroups = [] } of paginateDescribeLogGroups({ client }, input)) {
    for (const { logGroupName = "" } of logGroups) {
      const own = logGroupName.slice(prefix.length);
      if (/^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/.test(own) && wanted.test(own)) names.push(logGroupName);
    }
  }
  return names;
}

/** Selects lines with a text in them, also in the middle of a word, where the text is an id or a name. */
export function textPattern(text: string): string {
  return /^[\w\-/.]+$/.test(text) ? `%${text.replaceAll(".", "\\.")}%` : JSON.stringify(text);
}

/** Selects lines of JSON whose field has one of these texts. */
export function fieldPattern(field: string, texts: readonly string[]): string {
  return `{ ${texts.map((text) => `($.${field} = ${JSON.stringify(text)})`).join(" || ")} }`;
}
