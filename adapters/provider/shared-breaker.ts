import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { unreachable } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import {
  type Breaker,
  type BreakerSettings,
  type CallResult,
  closed,
  paused,
  reopened,
  spreadInSeconds,
} from "../../domain/fetch/breaker.ts";
import { isWritten } from "../dynamodb/conditional-write.ts";
import { itemVersion, readItem } from "../dynamodb/items.ts";
import { breakerKey } from "../dynamodb/keys.ts";

/** Is given what the call that was admitted found. Never throws: what it could not write ends by itself. */
export type Report = (result: CallResult) => Promise<void>;

export type SharedBreaker = {
  /** Admits a call, or throws a retryable failure with the time until the provider is tried again. */
  readonly admit: () => Promise<Report>;
  /** Throws the same where no call would be admitted; never probes. */
  readonly gate: () => Promise<void>;
};

export type BreakerDependencies = {
  readonly settings: BreakerSettings;
  /** How long a call can take: so long one caller probes alone. */
  readonly longestCallInSeconds: number;
  readonly now: () => Date;
  readonly random: () => number;
  /**
   * Is called by whoever changes it, so once over all callers: each time the provider is found down, and that it is
   * back.
   */
  readonly onStateChange: (state: "open" | "closed") => void;
};

/** How long a caller trusts what it has read: another may have changed the breaker since. */
const trustedForInSeconds = 5;

/**
 * A breaker that all environments of all functions share through the table. Closed, it costs each a read in five
 * seconds. A caller whose calls fail in a row opens it; from then on nobody calls, until its time is over and one
 * caller has won the probe. Only what the probe finds closes it.
 */
export function sharedBreaker(
  client: DynamoDBClient,
  tableName: string,
  { settings, longestCallInSeconds, now, random, onStateChange }: BreakerDependencies,
): SharedBreaker {
  const trust = Math.min(trustedForInSeconds, settings.baseSeconds) * 1000;
  let known: { readonly breaker: Breaker; readonly until: number } | undefined;
  let failuresInARow = 0;
  // The tasks of a batch ask at the same time: one read answers them all.
  let loading: Promise<Breaker> | undefined;

  const keep = (breaker: Breaker): Breaker => {
    known = { breaker, until: now().getTime() + trust };
    return breaker;
  };
  const current = async (): Promise<Breaker> => {
    if (known !== undefined && now().getTime() < known.until) return known.breaker;
    loading ??= loadBreaker(client, tableName)
      .then(keep)
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  /** @returns whether it was still as it was seen */
  const write = async (seen: Breaker, next: Breaker): Promise<boolean> => {
    const isWritten = await replace(client, tableName, seen, next);
    if (isWritten) keep(next);
    else known = undefined;
    return isWritten;
  };

  const failed = async (
    seen: Breaker,
    isProbe: boolean,
    { pauseInSeconds, isRepeated }: Exclude<CallResult, "healthy">,
  ) => {
    if (isRepeated !== true) failuresInARow += 1;
    if (pauseInSeconds > 0) {
      const next = paused(seen, now(), pauseInSeconds);
      if (isProbe || next.openUntil > seen.openUntil) await write(seen, next);
    } else if (isProbe || (seen.openUntil === 0 && failuresInARow >= settings.failures)) {
      failuresInARow = 0;
      const isChanged = await write(seen, reopened(seen, now(), settings, random()));
      if (isChanged) onStateChange("open");
    }
  };
  const healthy = async (probe: Breaker | undefined) => {
    failuresInARow = 0;
    if (probe === undefined) return;
    const isChanged = await write(probe, closed);
    if (isChanged && probe.opened > 0) onStateChange("closed");
  };
  const reporter = (probe?: Breaker): Report => {
    const write = async (result: CallResult) => {
      if (result === "healthy") await healthy(probe);
      else await failed(probe ?? (await current()), probe !== undefined, result);
    };
    // A probe's lease ends with its time, and the next failure opens it as well: the call's own result counts more.
    return (result) => write(result).catch(() => undefined);
  };

  const currentUnlessOpen = async (): Promise<Breaker> => {
    const breaker = await current();
    const left = (breaker.openUntil - now().getTime()) / 1000;
    if (left > 0) throw unreachable("the provider is down", left, spreadInSeconds(breaker, settings));
    return breaker;
  };

  return {
    gate: async () => void (await currentUnlessOpen()),
    admit: async () => {
      // Ends: a probe that is not won was won by another, who has changed what is read next.
      for (;;) {
        const breaker = await currentUnlessOpen();
        if (breaker.openUntil === 0) return reporter();
        const until = now().getTime() + Math.ceil(longestCallInSeconds * 1000);
        const probe = { ...breaker, openUntil: until };
        if (await write(breaker, probe)) return reporter(probe);
      }
    },
  };
}

/** The breaker as it is in the table. */
export async function loadBreaker(client: DynamoDBClient, tableName: string): Promise<Breaker> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: marshall(breakerKey), ConsistentRead: true }),
  );
  if (Item === undefined) return closed;
  const fields = readItem(Item);
  return { openUntil: numberOf(fields, "openUntil"), opened: numberOf(fields, "opened") };
}

async function replace(
  client: DynamoDBClient,
  tableName: string,
  seen: Breaker,
  next: Breaker,
): Promise<boolean> {
  return isWritten(
    client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: marshall(breakerKey),
        UpdateExpression: "SET openUntil = :openUntil, opened = :opened, schemaVersion = :version",
        ConditionExpression: `openUntil = :seen${seen.openUntil === 0 ? " OR attribute_not_exists(openUntil)" : ""}`,
        ExpressionAttributeValues: marshall({
          ":openUntil": next.openUntil,
          ":opened": next.opened,
          ":seen": seen.openUntil,
          ":version": itemVersion,
        }),
      }),
    ),
  );
}
