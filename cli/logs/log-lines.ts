import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { logLines } from "../../adapters/aws/log-groups.ts";
import type { Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";

/**
 * What all functions of a stage have logged, in no order. In AWS these are the lines since a time with a text in them; on
 * this machine all lines.
 * @throws CommandError where a system on this machine writes none to files
 */
export async function stageLogLines(
  { deployment, clients }: Pick<Operation, "deployment" | "clients">,
  since: string,
  text: string | undefined,
): Promise<readonly string[]> {
  const { local, stack, stage } = deployment;
  if (local === undefined) {
    const wanted = { since: new Date(since), ...(text !== undefined && { text }) };
    return logLines(clients.cloudWatchLogs, stack, wanted);
  }
  const { logs } = local;
  if (logs === undefined)
    throw new CommandError(
      "failed",
      `The system of the stage ${stage} writes no logs to files: start it with --logs.`,
    );
  return readdirSync(logs)
    .filter((name) => name.endsWith(".log"))
    .flatMap((name) => readFileSync(join(logs, name), "utf8").split("\n"));
}
