import { type CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { type CloudWatchLogsClient, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import { present } from "../../domain/core/parse.ts";

/** Which lines are searched for. */
export type LogSearch = {
  readonly since: Date;
  readonly until?: Date;
  /** CloudWatch's filter pattern; absent: all lines. */
  readonly pattern?: string;
};

/** Some lines, in no order, and how far the search is. */
export type LogLines = {
  readonly lines: readonly string[];
  /** Log groups that are read to their end, and all. */
  readonly done: number;
  readonly of: number;
};

/** The lines of log groups since a time, page by page: a page may be empty though more follow. */
export async function* logPages(
  client: CloudWatchLogsClient,
  groups: readonly string[],
  search: LogSearch,
): AsyncGenerator<LogLines> {
  let done = 0;
  for (const logGroupName of groups) {
    const input = {
      logGroupName,
      startTime: search.since.getTime(),
      ...present({ endTime: search.until?.getTime(), filterPattern: search.pattern }),
    };
    for await (const { events = [], nextToken } of paginateFilterLogEvents({ client }, input)) {
      if (nextToken === undefined) done += 1;
      yield { lines: events.flatMap(({ message }) => message ?? []), done, of: groups.length };
    }
  }
}

/** The names of a stack's log groups whose logical ids are wanted. */
export async function stackLogGroups(
  client: CloudFormationClient,
  stack: string,
  isWanted: (logicalId: string) => boolean,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: stack })) {
    for (const resource of page.StackResourceSummaries ?? []) {
      const { ResourceType, LogicalResourceId = "", PhysicalResourceId } = resource;
      if (ResourceType !== "AWS::Logs::LogGroup" || PhysicalResourceId === undefined) continue;
      if (resource.ResourceStatus !== "DELETE_COMPLETE" && isWanted(LogicalResourceId))
        names.push(PhysicalResourceId);
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
