import { type CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import { type CloudWatchLogsClient, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import { present } from "../../domain/core/parse.ts";

export type LogSearch = {
  readonly since: Date;
  readonly until?: Date;
  /** CloudWatch's filter pattern; absent: all lines. */
  readonly pattern?: string;
};

/** Some lines, in no order, and the progress of the search. */
export type LogLines = {
  readonly lines: readonly string[];
  /** Number of log groups read to their end, and in total. */
  readonly done: number;
  readonly total: number;
};

/** The lines of log groups since a time, page by page. A page may be empty although more follow. */
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
      yield { lines: events.flatMap(({ message }) => message ?? []), done, total: groups.length };
    }
  }
}

/** The names of a stack's log groups, filtered by logical id. */
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

/**
 * A filter pattern for lines that contain one of these texts, even within a word.
 * Source: CloudWatch Logs user guide, "Supported regular expressions (regex) syntax".
 * @param texts others than ids and names are left out: no pattern holds several of them
 */
export function textPattern(...texts: readonly string[]): string {
  const names = texts.filter((text) => /^[\w\-/.:#=@;,]+$/.test(text));
  return `%${names.map((name) => name.replaceAll(".", "\\.")).join("|")}%`;
}

/** A filter pattern for JSON lines whose field equals one of these texts. */
export function fieldPattern(field: string, texts: readonly string[]): string {
  return `{ ${texts.map((text) => `($.${field} = ${JSON.stringify(text)})`).join(" || ")} }`;
}
