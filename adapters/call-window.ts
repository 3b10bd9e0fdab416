import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { waiting } from "../domain/failures.ts";
import { callWindowKey } from "./keys.ts";

/** Waits for nothing: resolves where a call may be made now, else throws a retryable failure with the delay. */
export type Permit = () => Promise<void>;

const windowInSeconds = 60;
const largestLot = 20;

/**
 * Paces calls to the provider: all callers together never make more than `callsPerWindow` calls in a window of
 * a minute. Calls are leased in small lots from one counter per window; what is left of a lot is lost with the
 * window. Counters expire after an hour.
 */
export function callWindow(
  client: DynamoDBClient,
  tableName: string,
  callsPerWindow: number,
  now: () => Date,
): Permit {
  const lot = Math.max(1, Math.min(largestLot, Math.floor(callsPerWindow / 10)));
  let leased = { window: -1, left: 0 };
  // One lease at a time: callers who wait share the lot that comes.
  let queue: Promise<void> = Promise.resolve();

  const take = async () => {
    const seconds = now().getTime() / 1000;
    const window = Math.floor(seconds / windowInSeconds);
    if (leased.window !== window || leased.left === 0) {
      if (!(await lease(client, tableName, window, lot, callsPerWindow))) {
        throw waiting("the provider's rate is used up", Math.ceil((window + 1) * windowInSeconds - seconds));
      }
      leased = { window, left: lot };
    }
    leased = { window, left: leased.left - 1 };
  };
  return () => {
    const turn = queue.then(take);
    queue = turn.catch(() => undefined);
    return turn;
  };
}

async function lease(
  client: DynamoDBClient,
  tableName: string,
  window: number,
  lot: number,
  callsPerWindow: number,
): Promise<boolean> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: marshall(callWindowKey(window)),
        UpdateExpression: "SET #expires = :expires ADD #used :lot",
        ConditionExpression: "attribute_not_exists(#used) OR #used <= :most",
        ExpressionAttributeNames: { "#used": "used", "#expires": "expiresAt" },
        ExpressionAttributeValues: marshall({
          ":lot": lot,
          ":most": callsPerWindow - lot,
          ":expires": (window + 1) * windowInSeconds + 3600,
        }),
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
