import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { z } from "zod";
import { messageOfData, messageOfEvent, profileKey, profileUpdate } from "./job.ts";
import type { Task } from "./payloads.ts";

const eventImage = z.object({
  sk: z.string().startsWith("EVENT#"),
  receivedAt: z.string(),
  facts: z.object({
    type: z.string(),
    userId: z.string().exactOptional(),
    accountId: z.string().exactOptional(),
    endpoint: z.string().exactOptional(),
    connected: z.boolean().exactOptional(),
  }),
});
const dataImage = z.object({
  sk: z.string().startsWith("DATA#"),
  accountId: z.string(),
  endpoint: z.string(),
  digest: z.string(),
  fetchedAt: z.string(),
});
const image = z.union([eventImage, dataImage]);

/** Effects of a table change: an update of the profile, a task, a message to the subscriber. */
export function change({ dynamodb }: DynamoDBRecord) {
  const parsed = image.parse(unmarshall((dynamodb?.NewImage ?? {}) as Record<string, AttributeValue>));
  if (!("facts" in parsed)) {
    const { accountId, endpoint, digest, fetchedAt } = parsed;
    return { message: messageOfData(accountId, endpoint, digest, fetchedAt) };
  }
  const { facts, receivedAt, sk } = parsed;
  const id = sk.slice("EVENT#".length);
  const message = messageOfEvent(facts, id, receivedAt);
  const { accountId = "", endpoint } = facts;
  if (endpoint !== undefined) return { message, task: { task: "read", accountId, endpoint } satisfies Task };
  const profile = {
    Key: profileKey(facts),
    UpdateExpression: profileUpdate(facts),
    ExpressionAttributeValues: {
      ":user": facts.userId ?? "",
      ":connected": facts.connected ?? false,
      ":at": receivedAt,
    },
  };
  const task = facts.connected === true ? ({ task: "start", accountId } satisfies Task) : undefined;
  return { message, profile, task };
}
