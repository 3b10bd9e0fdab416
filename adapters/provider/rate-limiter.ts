import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type FailureError, waiting } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { windowsOf } from "../../domain/fetch/pacing.ts";
import { conflictOf } from "../dynamodb/conditional-write.ts";
import { itemVersion } from "../dynamodb/items.ts";
import { callWindowKey } from "../dynamodb/keys.ts";

/** Callers that wait for the next window return spread over a minute: each takes its share, and few come in vain. */
const spreadInSeconds = 60;
const keptForInSeconds = 3600;
/** A lease that is late once is nearly always in time in the next window; waiting instead would take a minute. */
const maxLeases = 3;

type Table = { readonly client: DynamoDBClient; readonly tableName: string };
type Leased = { readonly window: number; readonly usable: number };
type Caller = { readonly go: () => void; readonly refuse: (error: unknown) => void };

/**
 * Paces calls to the provider: all callers together never make more than `requestsPerMinute` calls in any minute.
 * The calls that an environment wants at about the same time are leased as one batch from the window's counter.
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

  /** @param gathered resolves when a batch is leased that was begun */
  constructor(
    client: DynamoDBClient,
    tableName: string,
    requestsPerMinute: number,
    {
      now,
      // The callers of a batch come in the same turn: the answer to one read lets them all go on.
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

  /** Resolves where a call may be made at once; else throws a retryable failure with the time to wait. */
  permit(): Promise<void> {
    return new Promise<void>((go, refuse) => {
      this.#callers.push({ go, refuse });
      if (this.#isLeasing) return;
      this.#isLeasing = true;
      void this.#gathered().then(() => this.#leaseForAll());
    });
  }

  /** Throws the same where this environment knows already that the window is used up; makes no request. */
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

  /** A lease that came too late is lost: calls of one window that leave in the next would be too many there. */
  async #leaseInTime(wanted: number, tries = maxLeases): Promise<Leased> {
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
