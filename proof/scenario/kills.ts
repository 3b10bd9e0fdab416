import type { Gateway } from "@income-events/local-stack/gateway/types.ts";

export type Victim = {
  /** As the gateway names the function's calls. */
  readonly principal: string;
  /** Kills its working processes; answers how many. */
  readonly kill: () => number;
};

/** What Lambda itself calls with a function's role, to poll its queue or stream: not the function's own work. */
const polls: ReadonlySet<string> = new Set([
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:DeleteMessageBatch",
  "sqs:GetQueueAttributes",
  "dynamodb:DescribeStream",
  "dynamodb:GetShardIterator",
  "dynamodb:GetRecords",
  "dynamodb:ListStreams",
]);

export type Kills = {
  /** How many processes were killed so far. */
  count(): number;
  /** Who has not been killed yet. */
  notKilled(): readonly string[];
  stop(): void;
};

/**
 * Kills each function once while it works: right after an engine applied one of its calls, and before the function
 * learns of it. That is where a pipeline that forgets, forgets.
 */
export function killEachOnce(gateway: Pick<Gateway, "intercept">, victims: readonly Victim[]): Kills {
  const notKilled = new Map(victims.map((victim) => [victim.principal, victim]));
  let count = 0;
  const stop = gateway.intercept(async ({ principal, action }, phase) => {
    const victim = notKilled.get(principal);
    if (victim === undefined || phase !== "after" || polls.has(action)) return undefined;
    const killed = victim.kill();
    // The call of a process that has ended meanwhile.
    if (killed === 0) return undefined;
    notKilled.delete(principal);
    count += killed;
    return "drop";
  });
  return { count: () => count, notKilled: () => [...notKilled.keys()], stop };
}
