import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { isFields } from "../../domain/core/parse.ts";

/** DynamoDB's time in milliseconds since 1970, to the second, from its last response; 0 before the first one. */
export type ServiceClock = () => number;

/** Reads the clock from all later responses of a client. */
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
