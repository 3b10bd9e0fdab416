import { throttleEvents } from "@income-events/local-stack/gateway/tables/throttle-events.ts";
import { expect, test } from "vitest";

const table = "arn:aws:dynamodb:eu-central-1:000000000000:table/events";
const call = (action: string, resource = table) => ({ action, needs: [{ action, resource }] });
const fault = (errorType: string) => ({ status: 400, errorType, message: "" });

test("a throttled call counts as a read or a write of its table", () => {
  const throttled = fault("ThrottlingException");
  expect(throttleEvents(call("dynamodb:Query"), throttled)).toEqual([
    { tableName: "events", metric: "ReadThrottleEvents" },
  ]);
  const exceeded = fault("ProvisionedThroughputExceededException");
  expect(throttleEvents(call("dynamodb:UpdateItem"), exceeded)).toEqual([
    { tableName: "events", metric: "WriteThrottleEvents" },
  ]);
  expect(throttleEvents(call("dynamodb:UpdateItem"), fault("InternalServerError"))).toEqual([]);
  const elsewhere = call("sqs:SendMessage", "arn:aws:sqs:eu-central-1:0:queue");
  expect(throttleEvents(elsewhere, throttled)).toEqual([]);
});

test("each throttled statement of a batch counts by itself", () => {
  const insert = { action: "dynamodb:PartiQLInsert", resource: table };
  const operation = { action: "dynamodb:BatchExecuteStatement", needs: [insert, insert, insert] };
  const responses = ["ThrottlingError", "DuplicateItem", "ProvisionedThroughputExceeded"].map((Code) => ({
    Error: { Code },
  }));
  const body = Buffer.from(JSON.stringify({ Responses: responses }));
  const event = { tableName: "events", metric: "WriteThrottleEvents" };
  expect(throttleEvents(operation, { status: 200, headers: {}, body })).toEqual([event, event]);
});
