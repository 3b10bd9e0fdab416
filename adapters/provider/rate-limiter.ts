import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type FailureError, waiting } from "../../domain/core/failures.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { periodOf, Reservation, reservableCalls, windowsOf } from "../../domain/fetch/call-limits.ts";
import { conflictOf } from "../dynamodb/batching.ts";
import { callReservationKey, callWindowKey, itemVersion, type Key } from "../dynamodb/keys.ts";

/** Waiting callers return spread over a minute, so that few find the next window used up. */
const spreadInSeconds = 60;
const counterTtlSeconds = 3600;
/**
 * Maximum attempts to get a lease within its window. A late lease nearly always succeeds in the next window; waiting
 * would take a minute.
 */
const maxLeases = 3;
/** More concurrent callers than this take a lease together, which costs no more than a reservation. */
const maxAlone = 2;

type Caller = {
  readonly serviceTime: number;
  readonly go: (ended?: () => void) => void;
  readonly refuse: (error: unknown) => void;
};

/**
 * Limits calls to the provider: all callers together make at most `requestsPerMinute` calls in any minute. Calls that
 * one environment wants concurrently are leased from the window's counter as one batch. A call that comes alone needs
 * no lease if the environment has reserved calls for the period.
 */
export class RateLimiter {
  readonly #counters: ReturnType<typeof callCounters>;
  readonly #now: () => Date;
  readonly #elapsed: () => number;
  readonly #gathered: () => Promise<unknown>;
  readonly #callsPerWindow: number;
  readonly #reservable: number;
  /** Length of a window, in milliseconds. */
  readonly #length: number;
  readonly #callers: Caller[] = [];
  #isGranting = false;
  #usedUp = -1;
  #reservation: Reservation;

  /** @param gathered resolves when the callers of a batch have arrived */
  constructor(
    counters: ReturnType<typeof callCounters>,
    requestsPerMinute: number,
    {
      now,
      elapsed = () => performance.now(),
      // The callers of a batch arrive in one turn of the event loop, since one read resumes them all.
      gathered = () => new Promise((resolve) => setImmediate(resolve)),
    }: {
      readonly now: () => Date;
      readonly elapsed?: () => number;
      readonly gathered?: () => Promise<unknown>;
    },
  ) {
    const { windowInSeconds, callsPerWindow } = windowsOf(requestsPerMinute);
    this.#counters = counters;
    this.#now = now;
    this.#elapsed = elapsed;
    this.#gathered = gathered;
    this.#callsPerWindow = callsPerWindow;
    this.#reservable = reservableCalls(requestsPerMinute);
    this.#length = windowInSeconds * 1000;
    this.#reservation = new Reservation(-1, elapsed);
  }

  /**
   * Resolves if a call may be made now.
   * @param serviceTime by DynamoDB's clock, read in this invocation: a frozen environment may wake much later. 0: the
   * call takes a lease
   * @returns to be called when the call has ended; undefined if the call has a lease
   * @throws retryable failure with the time to wait
   */
  permit(serviceTime = 0): Promise<(() => void) | undefined> {
    return new Promise((go, refuse) => {
      this.#callers.push({ serviceTime, go, refuse });
      if (this.#isGranting) return;
      this.#isGranting = true;
      void this.#gathered().then(() => this.#grantAll());
    });
  }

  /** Throws as `permit` does if this environment knows that the window is used up. Makes no request. */
  gate(): void {
    if (this.#usedUp !== this.#windowNow() || this.#reservation.hasFree()) return;
    throw this.#failureUntilEndOf(this.#usedUp);
  }

  async #grantAll(): Promise<void> {
    while (this.#callers.length > 0) {
      const callers = this.#callers.splice(0);
      await this.#grant(callers).catch((error: unknown) => {
        for (const { refuse } of callers) refuse(error);
      });
    }
    this.#isGranting = false;
  }

  async #grant(callers: readonly Caller[]): Promise<void> {
    const left: Caller[] = [];
    for (const caller of callers) {
      const ended = await this.#takeReserved(caller.serviceTime, callers.length <= maxAlone);
      if (ended === undefined) left.push(caller);
      else caller.go(ended);
    }
    if (left.length > 0) await this.#leaseBatch(left);
  }

  /** @param isAlone whether to reserve more calls if none is free */
  async #takeReserved(serviceTime: number, isAlone: boolean): Promise<(() => void) | undefined> {
    if (serviceTime === 0 || this.#reservable === 0) return undefined;
    const period = periodOf(serviceTime);
    if (this.#reservation.period !== period) this.#reservation = new Reservation(period, this.#elapsed);
    const reserve = async (calls: number) =>
      (await this.#counters.take(callReservationKey(period), period, calls, this.#reservable)) === undefined;
    return this.#reservation.take(isAlone ? reserve : undefined);
  }

  async #leaseBatch(callers: readonly Caller[]): Promise<void> {
    const { window, usable } = await this.#leaseInTime(callers.length);
    for (const { go } of callers.slice(0, usable)) go();
    const refused = callers.slice(usable);
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
    const granted = await this.#lease(Math.round(window * this.#length), wanted);
    if (this.#windowNow() === window) return { window, usable: granted };
    return tries > 1 ? this.#leaseInTime(wanted, tries - 1) : { window, usable: 0 };
  }

  /** Takes as many of the wanted calls as the window has left. @returns how many */
  async #lease(begin: number, wanted: number): Promise<number> {
    const most = this.#callsPerWindow;
    const take = (calls: number) => this.#counters.take(callWindowKey(begin), begin, calls, most);
    const calls = Math.min(wanted, most);
    const used = await take(calls);
    if (used === undefined) return calls;
    const rest = most - used;
    // Takes what others left. If that fails, they have used it up meanwhile.
    return rest > 0 && (await take(rest)) === undefined ? rest : 0;
  }

  #windowNow(): number {
    return Math.floor(this.#now().getTime() / this.#length);
  }

  #failureUntilEndOf(window: number): FailureError {
    const secondsLeft = ((window + 1) * this.#length - this.#now().getTime()) / 1000;
    return waiting("the provider's rate is used up", Math.max(0, secondsLeft), spreadInSeconds);
  }
}

/** Counts calls in the table, for all environments together. */
export function callCounters(client: DynamoDBClient, tableName: string) {
  return {
    /**
     * Adds calls to a counter unless it would exceed `most`.
     * @param begin of what the counter is for, in milliseconds since 1970; it expires an hour later
     * @returns undefined if they were added, else how many were counted before
     */
    take: async (key: Key, begin: number, calls: number, most: number) => {
      const full = await conflictOf(
        client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: marshall(key),
            UpdateExpression: "SET #expires = :expires, schemaVersion = :version ADD #used :calls",
            ConditionExpression: "attribute_not_exists(#used) OR #used <= :most",
            ExpressionAttributeNames: { "#used": "used", "#expires": "expiresAt" },
            ExpressionAttributeValues: marshall({
              ":calls": calls,
              ":most": most - calls,
              ":expires": Math.ceil(begin / 1000) + counterTtlSeconds,
              ":version": itemVersion,
            }),
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          }),
        ),
      );
      return full && numberOf(unmarshall(full), "used");
    },
  };
}

/**
 * How many calls to the provider all functions together were permitted in the minute before `now`. Reserved calls
 * count whether they were made or not.
 */
export async function callsInLastMinute(
  client: DynamoDBClient,
  tableName: string,
  now: Date,
): Promise<number> {
  const [from, to] = [now.getTime() - 60_000, now.getTime()];
  const used = async (first: Key, last: Key) => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
        ExpressionAttributeValues: marshall({ ":pk": first.pk, ":from": first.sk, ":to": last.sk }),
      }),
    );
    return Items.reduce((sum, item) => sum + numberOf(unmarshall(item), "used"), 0);
  };
  const [leased, reserved] = await Promise.all([
    used(callWindowKey(from), callWindowKey(to)),
    used(callReservationKey(periodOf(from)), callReservationKey(to)),
  ]);
  return leased + reserved;
}
