import { addressesOf } from "@income-events/local-stack/addresses.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { writePrivateFile } from "@income-events/local-stack/private-file.ts";
import type { Surface } from "@income-events/local-stack/stay-up/session.ts";
import { startSystem } from "@income-events/local-stack/system.ts";
import { playScenario, type ScenarioResult } from "./run.ts";
import { recordTraffic } from "./traffic.ts";

const sandboxOptions = {
  // A token in its last minutes, so that the refresher refreshes it.
  tokenLifetimeSeconds: 3600,
  initialTokenRemainingSeconds: 600,
  delivery: { firstRetryMs: 500, maxRetryMs: 4_000 },
  /** Small enough that most documents have two pages. */
  pageSize: 6,
};

/**
 * Runs the scenario on a new system.
 * @returns 0 only if every expected record and message exists
 */
export async function runScenario(options: StartOptions, surface: Surface): Promise<number> {
  const { print, progress, interrupted } = surface;
  const started = performance.now();
  const traffic = recordTraffic();
  const system = await startSystem(options, sandboxOptions, surface, traffic.observe);
  try {
    const addresses = addressesOf(system);
    const load = { users: options.users, progress };
    const result = await Promise.race([playScenario(system, traffic, load), interrupted]);
    if (result === undefined) return 130;
    const { losses } = result;
    const counts = count(result, traffic.statuses());
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    print(`\n${printable(counts)}\n`);
    for (const loss of losses.slice(0, 20)) print(`  ! ${loss}`);
    if (losses.length > 20) print(`  ! and ${losses.length - 20} more`);
    if (options.json !== undefined) {
      const permissions = system.stack.functions.flatMap(({ logicalId, name }) =>
        system.stack.gateway.permissionsOf(name).map((permission) => ({ role: logicalId, ...permission })),
      );
      const { received, ...others } = counts;
      const subscribers = Object.entries(addresses.subscribers).map(([name, subscriber]) => [
        name,
        { ...subscriber, received: received[name] ?? 0 },
      ]);
      const counted = { ...others, subscribers: Object.fromEntries(subscribers), seconds };
      const content = { ...addresses, ...counted, permissions };
      await writePrivateFile(options.json, `${JSON.stringify(content, null, 2)}\n`);
    }
    print(losses.length === 0 ? `Nothing is lost, after ${seconds} s.` : "Something is lost.");
    return losses.length === 0 ? 0 : 1;
  } finally {
    await system.close();
  }
}

/**
 * Counts in the engines and at the API, never at the senders.
 * @param statuses of every request to a webhook
 */
function count(result: ScenarioResult, statuses: readonly number[]) {
  const { table, messages, deadLetters } = result.found;
  const events = [...table.events.values()];
  return {
    webhooks: {
      sent: statuses.length,
      accepted: statuses.filter((status) => status >= 200 && status < 300).length,
      rejected: statuses.filter((status) => status >= 400 && status < 500).length,
    },
    events: {
      stored: events.length,
      again: events.reduce((sum, { receipts }) => sum + receipts - 1, 0),
      reconciled: events.filter(({ reconciled }) => reconciled).length,
    },
    records: {
      users: table.users.size,
      accounts: table.accounts.size + table.companyAccounts.size,
      data: table.data.size,
    },
    fetches: table.data.size,
    kills: result.kills,
    /** By subscriber. */
    received: Object.fromEntries([...messages].map(([name, { size }]) => [name, size])),
    documentsRead: result.documents.read,
    documentsMissing: result.documents.missing.length,
    deadLetters: new Set(deadLetters.map(({ id }) => id)).size,
    lost: result.losses.length,
  };
}

function printable(counts: ReturnType<typeof count>): string {
  const line = (stage: string, what: string, n: number) =>
    `  ${stage.padEnd(17)} ${what.padEnd(12)} ${String(n).padStart(8)}`;
  return Object.entries(counts)
    .flatMap(([stage, n]) =>
      typeof n === "number"
        ? [line(stage, "", n)]
        : Object.entries(n).map(([what, each]) => line(stage, what, each)),
    )
    .join("\n");
}
