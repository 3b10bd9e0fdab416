import type { _Record } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";

/** What the stack's filter criteria let through. */
export function isRelayed({ eventName, dynamodb }: _Record): boolean {
  const sortKey = dynamodb?.Keys?.sk?.S ?? "";
  if (eventName === "REMOVE") return false;
  if (sortKey.startsWith("DOCUMENT#")) return dynamodb?.NewImage?.document?.M?.news?.BOOL === true;
  return sortKey === "STATE" || sortKey.startsWith("EVENT#");
}

/** Records as Lambda hands them over: by way of JSON, with times in seconds. */
export function lambdaRecords(records: readonly unknown[]): DynamoDBRecord[] {
  const parsed: DynamoDBRecord[] = JSON.parse(JSON.stringify(records));
  for (const { dynamodb } of parsed) {
    const created = dynamodb?.ApproximateCreationDateTime;
    if (dynamodb !== undefined && created !== undefined)
      dynamodb.ApproximateCreationDateTime = new Date(created).getTime() / 1_000;
  }
  return parsed;
}
