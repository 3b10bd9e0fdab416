import { setImmediate as nextTurn } from "node:timers/promises";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import { type EndpointName, endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import { z } from "zod";
import { wrongDocuments } from "../scenario/compare.ts";
import { readAllDeadLetters, readTable, type TableSnapshot } from "../scenario/snapshot.ts";

const task = z.object({ subject: z.object({ id: z.string() }), endpoint: z.string() });

/** Reads the table and empties the dead-letter queues: counts in the engines, never by the callers. */
export async function countTasks({ sandbox, stack, access }: System, fetched: readonly Fetched[]) {
  /** The provider's current data by task: `<account>/<endpoint>`. */
  const served = new Map<string, unknown>(
    fetched.flatMap(({ accountId, endpoints }) =>
      endpoints.map((endpoint) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)] as const),
    ),
  );
  const table = await readTable(access, outputOf(stack, "TableName"));
  const deadLetters = await readAllDeadLetters(access, stack);
  const { done, lost } = assessTasks(served, table, new Set(deadLetters.flatMap(({ id }) => taskNames(id))));
  return {
    tasks: served.size,
    done,
    /** Messages in all dead-letter queues. */
    deadLetters: deadLetters.length,
    lost: lost.length,
    /** Lost tasks, and reasons of dead letters. */
    faults: [...lost, ...deadLetters.map(({ id, reason }) => `${id} is a dead letter: ${reason}`)],
  };
}

/** Names of the tasks in a dead letter; empty if it is not a task. */
function taskNames(text: string): readonly string[] {
  try {
    const { success, data } = task.safeParse(JSON.parse(text));
    return success ? [`${data.subject.id}/${data.endpoint}`] : [];
  } catch {
    return [];
  }
}

const minuteInMilliseconds = 60_000;

/**
 * Maximum calls in any minute: a limit per calendar minute could be exceeded twofold across its boundary.
 * @param times milliseconds, in any order
 */
export function mostInAnyMinute(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  let oldest = 0;
  let most = 0;
  for (const [index, time] of sorted.entries()) {
    // The end of the minute is exclusive.
    while (time - (sorted[oldest] ?? time) >= minuteInMilliseconds) oldest += 1;
    most = Math.max(most, index - oldest + 1);
  }
  return most;
}

/**
 * A task is done if the provider's data is stored and marked as fetched; it is lost if it is neither done nor
 * in a dead-letter queue.
 * @param served the provider's data by task: `<account>/<endpoint>`
 * @param asDeadLetters names of the tasks in dead-letter queues
 */
export function assessTasks(
  served: ReadonlyMap<string, unknown>,
  table: Pick<TableSnapshot, "data" | "contents">,
  asDeadLetters: ReadonlySet<string>,
) {
  const wrong = wrongDocuments(served, table);
  const lost = [...wrong].filter(([name]) => !asDeadLetters.has(name));
  return { done: served.size - wrong.size, lost: lost.map(([name, fault]) => `${name} ${fault}`) };
}

/** An account's endpoints with new data: each is a task. */
export type Fetched = { readonly accountId: string; readonly endpoints: readonly EndpointName[] };

const accountsPerUser = 20;
/** Accounts to process before yielding, so that the sandbox keeps answering. */
const accountsPerTurn = 20;

/** Number of accounts that have this many endpoints in total. */
export function accountsNeeded(tasks: number): number {
  return Math.ceil(tasks / endpointNames.length);
}

/** Connects enough accounts for the tasks; their events are queued for delivery. */
export async function connectAccounts(sandbox: Sandbox, tasks: number): Promise<readonly string[]> {
  const needed = accountsNeeded(tasks);
  const users = Math.ceil(needed / accountsPerUser);
  const { accounts } = await sandbox.createUsers(users, {
    accountsPerUser: Math.ceil(needed / users),
    accountAlert: false,
  });
  return accounts.slice(0, needed);
}

/** Distributes tasks over accounts and endpoints, each different. */
export function dealTasks(accounts: readonly string[], tasks: number): readonly Fetched[] {
  return accounts.map((accountId, index) => ({
    accountId,
    endpoints: endpointNames.slice(0, Math.max(0, tasks - index * endpointNames.length)),
  }));
}

/** Makes the provider fetch data, which it announces by one webhook per endpoint. */
export async function announceData(sandbox: Sandbox, fetched: readonly Fetched[]): Promise<void> {
  for (const [index, { accountId, endpoints }] of fetched.entries()) {
    sandbox.fetchData(accountId, endpoints);
    if (index % accountsPerTurn === accountsPerTurn - 1) await nextTurn();
  }
}
