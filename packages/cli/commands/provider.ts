import type { Command } from "commander";
import { addCommand, type Operation } from "../core/command.ts";
import { sinceFlag } from "../core/flags.ts";
import { tableText } from "../core/table.ts";
import { countsText, type ProviderTurn, providerHistory } from "../provider/provider-history.ts";
import { providerStatus, providerText } from "../provider/provider-status.ts";

type Flags = { readonly since?: string };

export function addProvider(program: Command): void {
  addCommand<Flags>(
    program,
    {
      name: "provider",
      summary:
        "Shows how the provider is called: whether it answers, the breaker and its next probe, the calls of the last minute against the rate, the token's life. With --since also what happened: the breaker's turns, the token's refreshes, what reconciliation found.",
      examples: [
        "npx income-events provider --since 7d    with what happened in seven days",
        "npx income-events provider",
        "npx income-events provider --json    for programs",
      ],
    },
    show,
  ).option("--since <time>", "with what happened since: a date, a date-time, or how long ago (90m, 24h, 7d)");
}

async function show({ deployment, clients, terminal }: Operation, flags: Flags): Promise<void> {
  const { stage } = deployment;
  const since = sinceFlag(flags.since, new Date());
  const status = await providerStatus(deployment, clients, new Date());
  const text = providerText(stage, status, new Date());
  if (since === undefined) return terminal.result({ stage, ...status }, text);
  const history = await providerHistory({ deployment, clients }, since);
  terminal.result({ stage, ...status, history }, `${text}\n\n${historyText(history, since)}`);
}

function historyText(history: readonly ProviderTurn[], since: string): string {
  if (history.length === 0) return `Nothing happened since ${since}.`;
  return tableText(
    ["AT", "WHAT", "BY", "REASON", "FOUND"],
    history.map(({ at, code, by, reason, counts }) => [at, code, by, reason, countsText(counts)]),
  );
}
