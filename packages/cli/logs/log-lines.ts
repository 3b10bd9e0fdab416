import { type LogLines, type LogSearch, logPages } from "../../../adapters/aws/log-groups.ts";
import type { Operation } from "../core/command.ts";

export type LogPlace = Pick<Operation, "deployment" | "clients">;

/** What a pipeline's functions have logged, in no order; not those of another one in its stack. @param onRead is called after each page */
export async function stageLogLines(
  { deployment, clients }: LogPlace,
  search: LogSearch,
  onRead: (page: LogLines) => void = () => undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const groups = new RegExp(`${deployment.resources.source}.*${search.groups?.source ?? ""}`);
  for await (const page of logPages(clients.cloudWatchLogs, deployment.stack, { ...search, groups })) {
    for (const line of page.lines) lines.push(line);
    onRead(page);
  }
  return lines;
}
