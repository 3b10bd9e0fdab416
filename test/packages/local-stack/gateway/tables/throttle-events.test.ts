import { throttleEvent } from "@income-events/local-stack/gateway/tables/throttle-events.ts";
import { expect, test } from "vitest";

const table = "arn:aws:dynamodb:eu-central-1:000000000000:table/events";
const call = (action: string, resource = table) => ({ action, needs: [{ action, resource }] });

test("a throttled call counts as a read or a write of its table", () => {
  const throttled = "ThrottlingException";
  expect(throttleEvent(call("dynamodb:Query"), throttled)).toEqual({
    tableName: "events",
    metric: "ReadThrottleEvents",
  });
  expect(throttleEvent(call("dynamodb:UpdateItem"), "ProvisionedThroughputExceededException")).toEqual({
    tableName: "events",
    metric: "WriteThrottleEvents",
  });
  expect(throttleEvent(call("dynamodb:UpdateItem"), "InternalServerError")).toBeUndefined();
  expect(
    throttleEvent(call("sqs:SendMessage", "arn:aws:sqs:eu-central-1:0:queue"), throttled),
  ).toBeUndefined();
});
