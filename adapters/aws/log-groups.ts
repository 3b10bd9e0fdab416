import {
  type CloudWatchLogsClient,
  paginateDescribeLogGroups,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";

/**
 * The lines of all log groups of a stack since a time, in no order. CloudFormation names the groups
 * `<stack>-<logical id>-<random>`, the latter two of letters and digits only.
 * @param text what lines must contain; absent: all lines
 */
export async function logLines(
  client: CloudWatchLogsClient,
  stack: string,
  { since, text }: { readonly since: Date; readonly text?: string },
): Promise<readonly string[]> {
  const prefix = `${stack}-`;
  const lines: string[] = [];
  for await (const { logGroups = [] } of paginateDescribeLogGroups(
    { client },
    { logGroupNamePrefix: prefix },
  )) {
    for (const { logGroupName = "" } of logGroups) {
      if (!/^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$/.test(logGroupName.slice(prefix.length))) continue;
      const input = {
        logGroupName,
        startTime: since.getTime(),
        ...(text !== undefined && { filterPattern: JSON.stringify(text) }),
      };
      for await (const { events = [] } of paginateFilterLogEvents({ client }, input))
        lines.push(...events.flatMap(({ message }) => message ?? []));
    }
  }
  return lines;
}
