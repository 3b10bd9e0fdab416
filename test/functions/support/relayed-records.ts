import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import { itemInEvent } from "@income-events/local-stack/sources/stream-record.ts";
import type { DynamoDBRecord } from "aws-lambda";

/**
 * Whether the stack's filter criteria accept a record.
 * @param endpoints of the setting `readiness`
 */
export function isRelayed({ eventName, dynamodb }: _Record, endpoints: readonly string[] = []): boolean {
  const sortKey = dynamodb?.Keys?.sk?.S ?? "";
  if (eventName === "REMOVE") return false;
  if (endpoints.some((endpoint) => sortKey === `DOCUMENT#${endpoint}`)) return true;
  if (sortKey.startsWith("DOCUMENT#")) return dynamodb?.NewImage?.document?.M?.news?.BOOL === true;
  return sortKey === "STATE" || sortKey === "READINESS" || /^(EVENT|CANARY)#/.test(sortKey);
}

/** Records as Lambda delivers them: through JSON, with times in seconds. */
export function lambdaRecords(records: readonly unknown[]): DynamoDBRecord[] {
  const parsed: DynamoDBRecord[] = JSON.parse(JSON.stringify(records));
  for (const { dynamodb } of parsed) {
    const created: unknown = dynamodb?.ApproximateCreationDateTime;
    if (dynamodb !== undefined && typeof created === "string")
      dynamodb.ApproximateCreationDateTime = Date.parse(created) / 1_000;
    for (const image of [dynamodb?.NewImage, dynamodb?.OldImage])
      if (image !== undefined) Object.assign(image, itemInEvent(image));
  }
  return parsed;
}

/** The answer of a relay that has failed from a record on. */
export function failedFrom(record: Pick<_Record | DynamoDBRecord, "dynamodb"> | undefined) {
  return { batchItemFailures: [{ itemIdentifier: record?.dynamodb?.SequenceNumber }] };
}

/** The answer of a relay that has done all. */
export const allDone = { batchItemFailures: [] };
