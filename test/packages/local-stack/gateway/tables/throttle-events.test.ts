import { createDeduplication } from "@income-events/local-stack/gateway/in-flight.ts";
import { contextOfRead } from "@income-events/local-stack/gateway/tables/dynamodb.ts";
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

const pk = { S: "USER#1" };

test("the facts of a read are its partitions, the attributes that it wants, and whether it wants all", () => {
  expect(contextOfRead({ Key: { pk, sk: { S: "STATE" } } })).toEqual({
    "dynamodb:LeadingKeys": ["USER#1"],
    "dynamodb:Select": "ALL_ATTRIBUTES",
  });
  expect(contextOfRead({ Keys: [{ pk }], ProjectionExpression: "pk, #state.version" })).toMatchObject({
    "dynamodb:LeadingKeys": ["USER#1"],
    "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
  });
  const query = {
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: { ":pk": pk, ":prefix": { S: "DOCUMENT#" } },
    ExpressionAttributeNames: { "#document": "document" },
    ProjectionExpression: "pk, #document.content",
  };
  expect(contextOfRead(query)).toEqual({
    "dynamodb:LeadingKeys": ["USER#1"],
    "dynamodb:Attributes": ["pk", "document"],
    "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
  });
});

test("an id that is due again is another for the engine, and the same for the caller", () => {
  let seconds = 0;
  const { forEngine, forCaller } = createDeduplication(5, () => seconds * 1000);
  const batch = { service: "sqs", action: "sqs:SendMessageBatch", needs: [] } as const;
  const sent = (id: string, QueueUrl = "queue"): string => {
    const entries = { QueueUrl, Entries: [{ MessageBody: "text", MessageDeduplicationId: id }] };
    const { Entries } = JSON.parse(forEngine(batch, Buffer.from(JSON.stringify(entries))).toString());
    return Entries[0].MessageDeduplicationId;
  };
  expect(sent("a")).toBe("a");
  seconds = 4;
  expect([sent("a"), sent("b"), sent("a", "other")]).toEqual(["a", "b", "a"]);
  seconds = 5;
  const again = sent("a");
  expect(again).not.toBe("a");
  expect(sent("b")).toBe("b");
  seconds = 9;
  expect(sent("a")).toBe(again);
  seconds = 10;
  expect([sent("a"), sent("b")]).not.toContain(again);
  const received = JSON.stringify({
    Attributes: { MessageDeduplicationId: again, MessageGroupId: "a#again1" },
  });
  expect(JSON.parse(forCaller(received)).Attributes).toEqual({
    MessageDeduplicationId: "a",
    MessageGroupId: "a#again1",
  });
});
