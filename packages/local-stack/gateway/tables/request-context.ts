import type { RequestContext } from "../../iam/evaluate.ts";
import { asObject, asString, type JsonObject } from "../operation.ts";

/**
 * What policies on single items ask for: which partitions a request names, and which attributes it wants. Of a key, and
 * of a key condition, the first attribute is taken for the partition key.
 * Source: DynamoDB developer guide, "Using IAM policy conditions for fine-grained access control".
 */
export function contextOfRead(input: JsonObject): RequestContext {
  const names = asObject(input.ExpressionAttributeNames);
  const nameOf = (name: string): string => (name.startsWith("#") ? asString(names[name]) : name);
  const projection = asString(input.ProjectionExpression);
  const wanted = projection.split(",").map((path) => nameOf(path.trim().split(/[.[]/)[0] ?? ""));
  const leadingKeys = [...keysOf(input), ...keyOfCondition(input)];
  return {
    ...(leadingKeys.length > 0 && { "dynamodb:LeadingKeys": leadingKeys }),
    ...(projection !== "" && { "dynamodb:Attributes": wanted }),
    "dynamodb:Select": projection === "" ? asString(input.Select) || "ALL_ATTRIBUTES" : "SPECIFIC_ATTRIBUTES",
  };
}

function keysOf({ Key, Keys }: JsonObject): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(Keys) ? Keys : Key === undefined ? [] : [Key];
  return keys.flatMap((key) => Object.values(asObject(key)).slice(0, 1).map(textOf));
}

function keyOfCondition(input: JsonObject): readonly string[] {
  const value = /^\s*\(?\s*[#\w]+\s*=\s*(:\w+)/.exec(asString(input.KeyConditionExpression))?.[1];
  return value === undefined ? [] : [textOf(asObject(input.ExpressionAttributeValues)[value])];
}

function textOf(value: unknown): string {
  const { S, N } = asObject(value);
  return asString(S) || asString(N);
}
