import { randomUUID } from "node:crypto";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { StreamSourcePlan } from "../assembly/plan.ts";
import type { StreamRecord } from "./stream-record.ts";

export type GivenUp = {
  readonly records: readonly StreamRecord[];
  readonly shardId: string;
  readonly condition: "RetryAttemptsExhausted" | "RecordAgeExpired";
  readonly invocations: number;
  readonly functionArn: string;
  readonly now: Date;
};

/**
 * Puts the invocation record of a batch that was given up into the mapping's bucket, the whole batch included.
 * Source: Lambda developer guide, "Retain discarded records for a DynamoDB event source".
 */
export async function putInvocationRecord(
  s3: S3Client,
  plan: StreamSourcePlan,
  bucket: string,
  givenUp: GivenUp,
): Promise<void> {
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: objectKey(plan.id, givenUp.shardId, givenUp.now),
      Body: JSON.stringify(invocationRecord(plan, givenUp)),
      ContentType: "application/json",
    }),
  );
}

function objectKey(mappingId: string, shardId: string, now: Date): string {
  const [day = "", time = ""] = now.toISOString().split(/[T.]/);
  const path = day.replaceAll("-", "/");
  return `aws/lambda/${mappingId}/${shardId}/${path}/${day}T${time.replaceAll(":", ".")}-${randomUUID()}`;
}

function invocationRecord(plan: StreamSourcePlan, givenUp: GivenUp) {
  const { records, shardId, condition, invocations, functionArn, now } = givenUp;
  const first = records.at(0)?.dynamodb;
  const last = records.at(-1)?.dynamodb;
  const timestamp = (seconds = 0): string => new Date(seconds * 1000).toISOString();
  return {
    requestContext: { requestId: randomUUID(), functionArn, condition, approximateInvokeCount: invocations },
    ...(invocations > 0 && {
      responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    }),
    version: "1.0",
    timestamp: now.toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: first?.SequenceNumber,
      endSequenceNumber: last?.SequenceNumber,
      approximateArrivalOfFirstRecord: timestamp(first?.ApproximateCreationDateTime),
      approximateArrivalOfLastRecord: timestamp(last?.ApproximateCreationDateTime),
      batchSize: records.length,
      streamArn: plan.streamArn,
    },
    payload: JSON.stringify({ Records: records }),
  };
}
