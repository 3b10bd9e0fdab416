import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { isFields } from "../../domain/core/parse.ts";

/**
 * Reads DynamoDB's clock from all later responses of a client.
 * @returns a function that returns the last response's time in milliseconds since 1970, to the second; 0 before the
 * first response
 */
export function serviceClock(client: DynamoDBClient): () => number {
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
