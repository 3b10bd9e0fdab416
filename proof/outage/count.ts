import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { deadLetterQueuesOf, outputOf } from "@income-events/local-stack/outputs.ts";
import type { System } from "@income-events/local-stack/system.ts";
import type { Call } from "@income-events/sandbox/api/call-log.ts";
import { type EndpointName, endpointNames } from "@income-events/sandbox/endpoint-names.ts";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import { z } from "zod";
import { readDeadLetters, readTable, type TableSnapshot } from "../scenario/snapshot.ts";

/** What an outage comes to; counted in the engines and at the provider, never by the callers. */
export type OutageResult = TaskCounts &
  CallCounts & {
    /** Of the stage's settings. */
    readonly limitPerMinute: number;
    /** Hours of the stage that the outage lasted: until all tasks waited, where that took longer than was asked for. */
    readonly lasted: number;
    /** Real seconds from the outage's end until nothing waits any more. */
    readonly catchUpSeconds: number;
  };

type TaskCounts = {
  readonly tasks: number;
  readonly done: number;
  /** In all dead-letter queues, whatever they are. */
  readonly deadLetters: number;
  readonly lost: number;
  /** In words, what is lost and why there are dead letters. */
  readonly faults: readonly string[];
};

type CallCounts = {
  readonly callsDuringOutage: number;
  /** In the busiest minute of the whole run, wherever it begins. */
  readonly maxCallsPerMinute: number;
};

const task = z.object({ subject: z.object({ id: z.string() }), endpoint: z.string() });

/** Reads the table and empties the dead-letter queues. */
export async function countTasks(
  { sandbox, stack, access }: System,
  fetched: readonly Fetched[],
): Promise<TaskCounts> {
  const served = servedData(sandbox, fetched);
  const table = await readTable(access, outputOf(stack, "TableName"));
  const unread = await Promise.all(
    deadLetterQueuesOf(stack).map(({ url, source }) => readDeadLetters(access, url, source)),
  );
  const deadLetters = unread.flat();
  const { done, lost } = assessTasks(served, table, new Set(deadLetters.flatMap(({ id }) => taskNames(id))));
  return {
    tasks: served.size,
    done,
    deadLetters: deadLetters.length,
    lost: lost.length,
    faults: [...lost, ...deadLetters.map(({ id, reason }) => `${id} is a dead letter: ${reason}`)],
  };
}

/** The name of the task that a dead letter is, if it is one. */
function taskNames(text: string): readonly string[] {
  try {
    const { success, data } = task.safeParse(JSON.parse(text));
    return success ? [`${data.subject.id}/${data.endpoint}`] : [];
  } catch {
    return [];
  }
}

/** @param begun and `ended`, of the outage: milliseconds since 1970 */
export function countCalls(calls: readonly Call[], begun: number, ended: number): CallCounts {
  const times = calls.map(({ at }) => at.getTime());
  return {
    callsDuringOutage: times.filter((time) => time >= begun && time < ended).length,
    maxCallsPerMinute: mostInAnyMinute(times),
  };
}

const minuteInMilliseconds = 60_000;

/**
 * The most calls in any minute, wherever it begins: a limit that holds from one full minute to the next can be
 * exceeded twofold in the minute between.
 * @param times milliseconds, in any order
 */
export function mostInAnyMinute(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  let oldest = 0;
  let most = 0;
  for (const [index, time] of sorted.entries()) {
    // A minute ends before the moment that is a minute after its first.
    while (time - (sorted[oldest] ?? time) >= minuteInMilliseconds) oldest += 1;
    most = Math.max(most, index - oldest + 1);
  }
  return most;
}

/** What became of the tasks. `lost` says in words what is missing or wrong. */
type Assessment = { readonly done: number; readonly lost: readonly string[] };

/**
 * A task is done where the data that the provider serves is stored and marked as fetched; it is lost where it is
 * neither done nor in a dead-letter queue.
 * @param served what the provider answers, by task: `<account>/<endpoint>`
 * @param asDeadLetters names of the tasks in dead-letter queues
 */
export function assessTasks(
  served: ReadonlyMap<string, unknown>,
  { data, contents }: Pick<TableSnapshot, "data" | "contents">,
  asDeadLetters: ReadonlySet<string>,
): Assessment {
  const faults = [...served].flatMap(([name, answer]) => {
    if (!data.has(name)) return [{ name, fault: "is not fetched" }];
    const content = contents.get(name);
    const isSame = content !== undefined && isDeepStrictEqual(JSON.parse(content), asJson(answer));
    return isSame ? [] : [{ name, fault: "differs from what the provider serves" }];
  });
  return {
    done: served.size - faults.length,
    lost: faults.filter(({ name }) => !asDeadLetters.has(name)).map(({ name, fault }) => `${name} ${fault}`),
  };
}

function asJson(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}

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

/** The provider's current data for each task, by `<account>/<endpoint>`. */
function servedData(sandbox: Sandbox, fetched: readonly Fetched[]): ReadonlyMap<string, unknown> {
  return new Map(
    fetched.flatMap(({ accountId, endpoints }) =>
      endpoints.map((endpoint) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)] as const),
    ),
  );
}
