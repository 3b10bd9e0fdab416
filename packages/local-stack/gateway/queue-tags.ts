import type { EngineClient } from "../engines/engine-client.ts";
import { asksForTags, tagContext } from "../iam/policy.ts";
import { asObject, asString, type Operation, parseJsonObject } from "./operation.ts";
import type { Principal } from "./types.ts";

/** The operation with the tags of its queue, for a caller whose policies decide by tags. */
export async function withQueueTags(
  operation: Operation,
  { policies }: Principal,
  sqs: EngineClient,
): Promise<Operation> {
  if (operation.service !== "sqs" || policies === "all" || !asksForTags(policies)) return operation;
  const needs = operation.needs.map(async (need) => ({
    ...need,
    context: { ...need.context, ...tagContext(await tagsOf(need.resource, sqs)) },
  }));
  return { ...operation, needs: await Promise.all(needs) };
}

/** @param arn of a queue, or `*`; one that is not there has no tags */
async function tagsOf(arn: string, sqs: EngineClient): Promise<Readonly<Record<string, string>>> {
  const [account, name] = arn.split(":").slice(4);
  if (name === undefined) return {};
  const answer = await sqs.send({
    method: "POST",
    target: "/",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.ListQueueTags" },
    body: Buffer.from(JSON.stringify({ QueueUrl: `http://queues.invalid/${account}/${name}` })),
  });
  if (answer.status !== 200) return {};
  const tags = asObject(parseJsonObject(answer.body.toString()).Tags);
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, asString(value)]));
}
