import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import { documentVersions } from "../../adapters/dynamodb/document-versions.ts";
import { subjectReads } from "../../adapters/dynamodb/subject-reads.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { parseReadingSubscribers } from "../../domain/read/access.ts";
import { fieldsIn, readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import type { Answer } from "./answer.ts";
import { readHttpRequest } from "./http-request.ts";
import { reader } from "./reader.ts";

const [table, tableName] = [new DynamoDBClient({}), variable("TABLE_NAME")];

const answer = reader({
  reads: subjectReads(table, tableName),
  versions: documentVersions(table, tableName, () => new Date()),
  bucket: overflowBucket(variable("OVERFLOW_BUCKET")),
  subscribers: parseReadingSubscribers(readSettings().subscribers, fieldsIn("GRANTED_READERS")),
  hasAttributes: readSettings().hasAttributes === true,
  log,
});

const handle = sanitizeErrors(async (event: unknown, context: Context) =>
  answer(readHttpRequest(event, context.invokedFunctionArn)),
);

const send = sanitizeErrors(
  async ({ status, headers, body }: Answer, stream: awslambda.HttpResponseStream) => {
    const response = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
    // Without a write, not even the headers are sent.
    response.write("");
    if (body === undefined) response.end();
    else await pipeline(body instanceof Readable ? body : Readable.from([body]), response);
  },
);

export const handler = awslambda.streamifyResponse(async (event: unknown, stream, context) => {
  await send(await logged(handle)(event, context), stream);
});
