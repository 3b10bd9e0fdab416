import type { RequestContext } from "../../iam/evaluate.ts";
import {
  asList,
  asObject,
  asString,
  type JsonObject,
  type Need,
  type Operation,
  UnknownOperationError,
} from "../operation.ts";
import { batchAction, parseStatement } from "./statements.ts";
import type { TableArns } from "./streams.ts";

const itemOperations = new Set(["GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"]);
const tableOperations = new Set([
  "CreateTable",
  "DeleteTable",
  "DescribeContinuousBackups",
  "DescribeTable",
  "DescribeTimeToLive",
  "UpdateContinuousBackups",
  "UpdateTable",
  "UpdateTimeToLive",
]);
const batchOperations = new Set(["BatchGetItem", "BatchWriteItem"]);

/** In a transaction, each part needs the permission of the single operation. */
const transactionParts: Readonly<Record<string, string>> = {
  ConditionCheck: "ConditionCheckItem",
  Delete: "DeleteItem",
  Get: "GetItem",
  Put: "PutItem",
  Update: "UpdateItem",
};

export function dynamoDbOperation(name: string, input: JsonObject, arns: TableArns): Operation {
  const action = `dynamodb:${name}`;
  const body = withBareTableNames(input);
  return {
    service: "dynamodb",
    action,
    needs: needs(name, input, arns),
    ...(body === undefined ? {} : { body }),
    ...(tableOperations.has(name) ? { rewriteAnswer: (answer) => arns.forCaller(answer) } : {}),
  };
}

function needs(name: string, input: JsonObject, arns: TableArns): Need[] {
  const action = `dynamodb:${name}`;
  if (itemOperations.has(name) || tableOperations.has(name)) {
    const table = arns.table(asString(input.TableName));
    const index = asString(input.IndexName);
    const resource = index === "" ? table : `${table}/index/${index}`;
    return [{ action, resource, context: contextOfRead(input) }];
  }
  if (batchOperations.has(name)) {
    return Object.entries(asObject(input.RequestItems)).map(([table, request]) => ({
      action,
      resource: arns.table(table),
      context: contextOfRead(asObject(request)),
    }));
  }
  if (name === "TransactWriteItems" || name === "TransactGetItems") return transactionNeeds(input, arns);
  if (action === batchAction) return statementNeeds(input, arns);
  if (name === "ListTables") return [{ action, resource: "*" }];
  throw new UnknownOperationError(action, `the operation ${action}`);
}

function transactionNeeds(input: JsonObject, arns: TableArns): Need[] {
  return asList(input.TransactItems).flatMap((item) =>
    Object.entries(asObject(item)).map(([part, request]) => {
      const permission = transactionParts[part];
      if (permission === undefined)
        throw new UnknownOperationError(`dynamodb:${part}`, `the transaction part ${part}`);
      return {
        action: `dynamodb:${permission}`,
        resource: arns.table(asString(asObject(request).TableName)),
      };
    }),
  );
}

/**
 * Each statement needs the permission of its verb. Source: DynamoDB developer guide, "IAM security policies
 * with PartiQL".
 */
function statementNeeds(input: JsonObject, arns: TableArns): Need[] {
  return asList(input.Statements).map((entry) => {
    const { verb, table, index } = parseStatement(asObject(entry));
    const resource = arns.table(table);
    return {
      action: `dynamodb:PartiQL${verb}`,
      resource: index === undefined ? resource : `${resource}/index/${index}`,
    };
  });
}

/** Replaces a table's ARN by its name: not every engine accepts ARNs. */
function withBareTableNames(input: JsonObject): string | undefined {
  const name = asString(input.TableName);
  if (!name.startsWith("arn:")) return undefined;
  return JSON.stringify({ ...input, TableName: name.split(":table/")[1] ?? name });
}

/**
 * Condition values of a read: the partitions that it names and the attributes that it reads. The first
 * attribute of a key or key condition counts as the partition key.
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
