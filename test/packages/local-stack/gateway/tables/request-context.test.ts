import { contextOfRead } from "@income-events/local-stack/gateway/tables/dynamodb.ts";
import { expect, test } from "vitest";

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
