import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import { documentVersions } from "../../adapters/dynamodb/document-versions.ts";
import { subjectReads } from "../../adapters/dynamodb/subject-reads.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { parseReadingSubscribers } from "../../domain/read/access.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { invocationAnswer, readInvocation } from "./invocation.ts";
import { reader } from "./reader.ts";

const [table, tableName] = [new DynamoDBClient({}), variable("TABLE_NAME")];

const answer = reader({
  reads: subjectReads(table, tableName),
  versions: documentVersions(table, tableName, () => new Date()),
  bucket: overflowBucket(variable("OVERFLOW_BUCKET")),
  subscribers: parseReadingSubscribers(readSettings().subscribers, {}),
  hasAttributes: readSettings().hasAttributes === true,
  log,
});

const handle = sanitizeErrors(async (event: unknown, context: Context) =>
  invocationAnswer(await answer(readInvocation(event, context.invokedFunctionArn))),
);

export const handler = logged(handle);
