import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { withoutLogging } from "../../../adapters/aws/without-logging.ts";

test.each([SQSClient, DynamoDBClient])(
  "a client without logging has all steps of a request but that: %o",
  (Client) => {
    const stepsOf = (client: SQSClient | DynamoDBClient) => client.middlewareStack.identify();
    const isLogging = (step: string) => step.startsWith("loggerMiddleware");
    const usual = stepsOf(new Client({ region: "eu-central-1" }));
    expect(usual.filter(isLogging)).toHaveLength(1);
    expect(stepsOf(withoutLogging(new Client({ region: "eu-central-1" })))).toEqual(
      usual.filter((step) => !isLogging(step)),
    );
  },
);
