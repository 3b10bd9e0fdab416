import { type LogLines, type LogSearch, logPages } from "../../adapters/aws/log-groups.ts";
import type { Operation } from "../core/command.ts";

export type LogPlace = Pick<Operation, "deployment" | "clients">;

/** What functions of a stage have logged, in no order. @param onRead is called after each page */
export async function stageLogLines(
  { deployment, clients }: LogPlace,
  search: LogSearch,
  onRead: (page: LogLines) => void = () => undefined,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const page of logPages(clients.cloudWatchLogs, deployment.stack, search)) {
    for (const line of page.lines) lines.push(line);
    onRead(page);
  }
  return lines;
}
