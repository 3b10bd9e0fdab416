import {
  asObject,
  asString,
  type JsonObject,
  type Need,
  type Operation,
  UnknownOperationError,
} from "../operation.ts";
import { contextOfRead } from "./request-context.ts";
import { batchAction, parseStatement } from "./statements.ts";
import type { TableArns } from "./table-arns.ts";

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

/** In a transaction each part needs the permission of the single operation. */
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
  const items: unknown[] = Array.isArray(input.TransactItems) ? input.TransactItems : [];
  return items.flatMap((item) =>
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

/** Each statement needs the permission of its verb. Source: DynamoDB developer guide, "IAM security policies with PartiQL". */
function statementNeeds(input: JsonObject, arns: TableArns): Need[] {
  const entries: unknown[] = Array.isArray(input.Statements) ? input.Statements : [];
  return entries.map((entry) => {
    const { verb, table, index } = parseStatement(asObject(entry));
    const resource = arns.table(table);
    return {
      action: `dynamodb:PartiQL${verb}`,
      resource: index === undefined ? resource : `${resource}/index/${index}`,
    };
  });
}

/** A table may be named by its ARN, which not every engine understands. */
function withBareTableNames(input: JsonObject): string | undefined {
  const name = asString(input.TableName);
  if (!name.startsWith("arn:")) return undefined;
  return JSON.stringify({ ...input, TableName: name.split(":table/")[1] ?? name });
}
