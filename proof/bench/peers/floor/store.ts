import { BatchExecuteStatementCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { eventKey, factsOf, variable } from "../job.ts";

const table = new DynamoDBClient({});

/** Sends one request for all messages, with one write per event, without reading first. */
export async function handler({ Records }: SQSEvent) {
  // A request may contain a key only once.
  const statements = new Map(Records.map(({ body }) => statementOf(body)));
  const { Responses = [] } = await table.send(
    new BatchExecuteStatementCommand({ Statements: [...statements.values()] }),
  );
  const failed = Responses.find(({ Error: error }) => error !== undefined && error.Code !== "DuplicateItem");
  if (failed !== undefined) throw new Error(failed.Error?.Code);
  return { batchItemFailures: [] };
}

function statementOf(body: string) {
  const { id, kind, receivedAt, raw } = JSON.parse(body);
  const { pk, sk } = eventKey(factsOf(JSON.parse(raw)), id);
  const statement = {
    Statement: `INSERT INTO "${variable("TABLE_NAME")}" VALUE {'pk': ?, 'sk': ?, 'kind': ?, 'receivedAt': ?, 'raw': ?}`,
    Parameters: [pk, sk, kind, receivedAt, raw].map((S: string) => ({ S })),
  };
  return [`${pk} ${sk}`, statement] as const;
}
