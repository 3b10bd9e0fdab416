import { setImmediate as nextTurn } from "node:timers/promises";
import { type EndpointName, endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import type { Sandbox } from "@income-events/sandbox/server.ts";

/** One account's endpoints of which new data is reported: each is a task of reading. */
export type Fetched = { readonly accountId: string; readonly endpoints: readonly EndpointName[] };

const accountsPerUser = 20;
/** Accounts whose events are made before others get a turn: the sandbox must go on answering. */
const accountsPerTurn = 20;

/** How many accounts have an endpoint for each of so many tasks. */
export function accountsNeeded(tasks: number): number {
  return Math.ceil(tasks / endpointNames.length);
}

/** Connects as many accounts as so many tasks need; their events are queued for delivery. */
export async function connectAccounts(sandbox: Sandbox, tasks: number): Promise<readonly string[]> {
  const needed = accountsNeeded(tasks);
  const users = Math.ceil(needed / accountsPerUser);
  const { accounts } = await sandbox.createUsers(users, {
    accountsPerUser: Math.ceil(needed / users),
    accountAlert: false,
  });
  return accounts.slice(0, needed);
}

/**
 * Deals tasks out over accounts: each of a different account or endpoint.
 * @throws RangeError where there are fewer accounts than `accountsNeeded`
 */
export function dealTasks(accounts: readonly string[], tasks: number): readonly Fetched[] {
  const needed = accountsNeeded(tasks);
  if (accounts.length < needed)
    throw new RangeError(`${tasks} tasks need ${needed} accounts: there are ${accounts.length}.`);
  return accounts.map((accountId, index) => ({
    accountId,
    endpoints: endpointNames.slice(0, Math.max(0, tasks - index * endpointNames.length)),
  }));
}

/** Lets the provider fetch data: it announces each endpoint by a webhook. */
export async function announceData(sandbox: Sandbox, fetched: readonly Fetched[]): Promise<void> {
  for (const [index, { accountId, endpoints }] of fetched.entries()) {
    sandbox.fetchData(accountId, endpoints);
    if (index % accountsPerTurn === accountsPerTurn - 1) await nextTurn();
  }
}

/** What the provider serves of each task's data, by `<account>/<endpoint>`. */
export function servedData(sandbox: Sandbox, fetched: readonly Fetched[]): ReadonlyMap<string, unknown> {
  return new Map(
    fetched.flatMap(({ accountId, endpoints }) =>
      endpoints.map((endpoint) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)] as const),
    ),
  );
}
