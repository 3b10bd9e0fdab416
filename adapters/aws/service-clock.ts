import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { isFields } from "../../domain/core/parse.ts";

/** The time by DynamoDB's clock, in milliseconds since 1970, as its last answer said to the second; 0 before the first. */
export type ServiceClock = () => number;

/** Reads the clock from all answers that a client gets from now on. */
export function serviceClock(client: DynamoDBClient): ServiceClock {
  let latest = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const headers = isFields(result.response) ? result.response.headers : undefined;
      const time =
        isFields(headers) && typeof headers.date === "string" ? Date.parse(headers.date) : Number.NaN;
      if (!Number.isNaN(time)) latest = time;
      return result;
    },
    { step: "deserialize", priority: "low" },
  );
  return () => latest;
}
