import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { waiting } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { windowsOf } from "../../domain/fetch/pacing.ts";
import { conflictOf } from "../dynamodb/conditional-write.ts";
import { itemVersion } from "../dynamodb/items.ts";
import { callWindowKey } from "../dynamodb/keys.ts";

/** Resolves where a call may be made at once; else throws a retryable failure with the time to wait. */
export type Permit = () => Promise<void>;

export type RateLimiter = {
  readonly permit: Permit;
  /** Throws the same where this environment knows already that the window is used up; asks nobody. */
  readonly gate: () => void;
};

/** Those who wait for the next window come back over a minute: each takes its share, and few come in vain. */
const spreadInSeconds = 60;
const keptForInSeconds = 3600;
/** A lease that is late once is nearly always in time in the next window: who waited instead would wait a minute. */
const maxLeases = 3;

type Table = { readonly client: DynamoDBClient; readonly tableName: string };
type Leased = { readonly window: number; readonly usable: number };
type Caller = { readonly go: () => void; readonly refuse: (error: unknown) => void };

/**
 * Paces calls to the provider: all callers together never make more than `requestsPerMinute` calls in any minute.
 * The calls that an environment wants at about the same time are leased as one batch from the window's counter.
 * @param gathered resolves when a batch is leased that was begun
 */
export function rateLimiter(
  client: DynamoDBClient,
  tableName: string,
  requestsPerMinute: number,
  {
    now,
    // The callers of a batch come in the same turn: the answer to one read lets them all go on.
    gathered = () => new Promise((resolve) => setImmediate(resolve)),
  }: { readonly now: () => Date; readonly gathered?: () => Promise<unknown> },
): RateLimiter {
  const { windowInSeconds, callsPerWindow } = windowsOf(requestsPerMinute);
  const length = windowInSeconds * 1000;
  const windowNow = () => Math.floor(now().getTime() / length);
  const callers: Caller[] = [];
  let isLeasing = false;
  let usedUp = -1;

  const failureUntilEndOf = (window: number) => {
    const secondsLeft = ((window + 1) * length - now().getTime()) / 1000;
    return waiting("the provider's rate is used up", Math.max(0, secondsLeft), spreadInSeconds);
  };

  const leaseBatch = async (permits: readonly Caller[]): Promise<void> => {
    const { window, usable } = await leaseInTime(permits.length);
    for (const { go } of permits.slice(0, usable)) go();
    const refused = permits.slice(usable);
    if (refused.length === 0) return;
    usedUp = window;
    const failure = failureUntilEndOf(window);
    for (const { refuse } of refused) refuse(failure);
  };

  // A lease that came too late is lost: calls of one window that leave in the next would be too many there.
  const leaseInTime = async (wanted: number, tries = maxLeases): Promise<Leased> => {
    const window = windowNow();
    const granted = await lease({ client, tableName }, Math.round(window * length), wanted, callsPerWindow);
    if (windowNow() === window) return { window, usable: granted };
    return tries > 1 ? leaseInTime(wanted, tries - 1) : { window, usable: 0 };
  };

  const leaseForAll = async () => {
    while (callers.length > 0) {
      const permits = callers.splice(0);
      await leaseBatch(permits).catch((error: unknown) => {
        for (const { refuse } of permits) refuse(error);
      });
    }
    isLeasing = false;
  };

  return {
    permit: () =>
      new Promise<void>((go, refuse) => {
        callers.push({ go, refuse });
        if (isLeasing) return;
        isLeasing = true;
        void gathered().then(leaseForAll);
      }),
    gate: () => {
      if (usedUp === windowNow()) throw failureUntilEndOf(usedUp);
    },
  };
}

/**
 * Takes as many of the wanted calls as the window that begins at `begin` (milliseconds since 1970) still has.
 * @returns how many
 */
async function lease(table: Table, begin: number, wanted: number, callsPerWindow: number): Promise<number> {
  const permits = Math.min(wanted, callsPerWindow);
  const used = await take(table, begin, permits, callsPerWindow);
  if (used === undefined) return permits;
  const rest = callsPerWindow - used;
  // What others left; if they take that too meanwhile, there is nothing left.
  return rest > 0 && (await take(table, begin, rest, callsPerWindow)) === undefined ? rest : 0;
}

/** @returns undefined where the batch was taken, else how many calls were taken before */
async function take(
  { client, tableName }: Table,
  begin: number,
  permits: number,
  callsPerWindow: number,
): Promise<number | undefined> {
  const full = await conflictOf(
    client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: marshall(callWindowKey(begin)),
        UpdateExpression: "SET #expires = :expires, schemaVersion = :version ADD #used :permits",
        ConditionExpression: "attribute_not_exists(#used) OR #used <= :most",
        ExpressionAttributeNames: { "#used": "used", "#expires": "expiresAt" },
        ExpressionAttributeValues: marshall({
          ":permits": permits,
          ":most": callsPerWindow - permits,
          ":expires": Math.ceil(begin / 1000) + keptForInSeconds,
          ":version": itemVersion,
        }),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
  return full && numberOf(unmarshall(full), "used");
}

/** How many calls of the provider were permitted in the minute before `now`, of all functions together. */
export async function callsInLastMinute(
  client: DynamoDBClient,
  tableName: string,
  now: Date,
): Promise<number> {
  const from = callWindowKey(now.getTime() - 60_000);
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: marshall({
        ":pk": from.pk,
        ":from": from.sk,
        ":to": callWindowKey(now.getTime()).sk,
      }),
    }),
  );
  return Items.reduce((sum, item) => sum + numberOf(unmarshall(item), "used"), 0);
}
