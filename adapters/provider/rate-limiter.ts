import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type FailureError, waiting } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { windowsOf } from "../../domain/fetch/breaker.ts";
import { conflictOf } from "../dynamodb/batching-writer.ts";
import { callWindowKey, itemVersion } from "../dynamodb/keys.ts";

/** Waiting callers return spread over a minute, so that few find the next window used up. */
const spreadInSeconds = 60;
const windowTtlSeconds = 3600;
/**
 * Maximum attempts to get a lease within its window. A late lease nearly always succeeds in the next window; waiting
 * would take a minute.
 */
const maxLeases = 3;

type Table = { readonly client: DynamoDBClient; readonly tableName: string };
type Caller = { readonly go: () => void; readonly refuse: (error: unknown) => void };

/**
 * Limits calls to the provider: all callers together make at most `requestsPerMinute` calls in any minute. Calls that
 * one environment wants concurrently are leased from the window's counter as one batch.
 */
export class RateLimiter {
  readonly #table: Table;
  readonly #now: () => Date;
  readonly #gathered: () => Promise<unknown>;
  readonly #callsPerWindow: number;
  /** Length of a window, in milliseconds. */
  readonly #length: number;
  readonly #callers: Caller[] = [];
  #isLeasing = false;
  #usedUp = -1;

  /** @param gathered resolves when the callers of a batch have arrived */
  constructor(
    client: DynamoDBClient,
    tableName: string,
    requestsPerMinute: number,
    {
      now,
      // The callers of a batch arrive in one turn of the event loop, since one read resumes them all.
      gathered = () => new Promise((resolve) => setImmediate(resolve)),
    }: { readonly now: () => Date; readonly gathered?: () => Promise<unknown> },
  ) {
    const { windowInSeconds, callsPerWindow } = windowsOf(requestsPerMinute);
    this.#table = { client, tableName };
    this.#now = now;
    this.#gathered = gathered;
    this.#callsPerWindow = callsPerWindow;
    this.#length = windowInSeconds * 1000;
  }

  /** Resolves if a call may be made now. @throws retryable failure with the time to wait */
  permit(): Promise<void> {
    return new Promise<void>((go, refuse) => {
      this.#callers.push({ go, refuse });
      if (this.#isLeasing) return;
      this.#isLeasing = true;
      void this.#gathered().then(() => this.#leaseForAll());
    });
  }

  /** Throws as `permit` does if this environment knows that the window is used up. Makes no request. */
  gate(): void {
    if (this.#usedUp === this.#windowNow()) throw this.#failureUntilEndOf(this.#usedUp);
  }

  async #leaseForAll(): Promise<void> {
    while (this.#callers.length > 0) {
      const permits = this.#callers.splice(0);
      await this.#leaseBatch(permits).catch((error: unknown) => {
        for (const { refuse } of permits) refuse(error);
      });
    }
    this.#isLeasing = false;
  }

  async #leaseBatch(permits: readonly Caller[]): Promise<void> {
    const { window, usable } = await this.#leaseInTime(permits.length);
    for (const { go } of permits.slice(0, usable)) go();
    const refused = permits.slice(usable);
    if (refused.length === 0) return;
    this.#usedUp = window;
    const failure = this.#failureUntilEndOf(window);
    for (const { refuse } of refused) refuse(failure);
  }

  /** Discards a lease that arrives after its window: its calls would exceed the limit of the next one. */
  async #leaseInTime(
    wanted: number,
    tries = maxLeases,
  ): Promise<{ readonly window: number; readonly usable: number }> {
    const window = this.#windowNow();
    const granted = await lease(this.#table, Math.round(window * this.#length), wanted, this.#callsPerWindow);
    if (this.#windowNow() === window) return { window, usable: granted };
    return tries > 1 ? this.#leaseInTime(wanted, tries - 1) : { window, usable: 0 };
  }

  #windowNow(): number {
    return Math.floor(this.#now().getTime() / this.#length);
  }

  #failureUntilEndOf(window: number): FailureError {
    const secondsLeft = ((window + 1) * this.#length - this.#now().getTime()) / 1000;
    return waiting("the provider's rate is used up", Math.max(0, secondsLeft), spreadInSeconds);
  }
}

/**
 * Takes as many of the wanted calls as the window has left.
 * @param begin of the window, in milliseconds since 1970
 * @returns how many
 */
async function lease(table: Table, begin: number, wanted: number, callsPerWindow: number): Promise<number> {
  const permits = Math.min(wanted, callsPerWindow);
  const used = await take(table, begin, permits, callsPerWindow);
  if (used === undefined) return permits;
  const rest = callsPerWindow - used;
  // Takes what others left. If that fails, they have used it up meanwhile.
  return rest > 0 && (await take(table, begin, rest, callsPerWindow)) === undefined ? rest : 0;
}

/** @returns undefined if the permits were taken, else how many calls were used before */
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
          ":expires": Math.ceil(begin / 1000) + windowTtlSeconds,
          ":version": itemVersion,
        }),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
  return full && numberOf(unmarshall(full), "used");
}

/** How many calls to the provider all functions together were permitted in the minute before `now`. */
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
