import type { Message } from "@aws-sdk/client-sqs";
import { z } from "zod";
import type { WebhookKind } from "../../../domain/event/events.ts";

/** A webhook as API Gateway hands it to a function (payload version 2.0). */
export function httpEvent(kind: WebhookKind, body: string, secret: string): object {
  const path = `/webhooks/${kind}`;
  return {
    version: "2.0",
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: "",
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      host: "bench.execute-api.eu-central-1.amazonaws.com",
      "user-agent": "income-data/1.0",
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
      "x-webhook-secret": secret,
    },
    requestContext: {
      accountId: "000000000000",
      apiId: "bench",
      domainName: "bench.execute-api.eu-central-1.amazonaws.com",
      domainPrefix: "bench",
      http: {
        method: "POST",
        path,
        protocol: "HTTP/1.1",
        sourceIp: "203.0.113.7",
        userAgent: "income-data/1.0",
      },
      requestId: "bench",
      routeKey: `POST ${path}`,
      stage: "$default",
      time: "21/Nov/2026:12:00:00 +0000",
      timeEpoch: 1_795_262_400_000,
    },
    body,
    isBase64Encoded: false,
  };
}

/** Received messages as SQS's event source hands them over. */
export function queueEvent(messages: readonly Message[], queueUrl: string): object {
  return {
    Records: messages.map(({ MessageId, ReceiptHandle, Body, Attributes, MD5OfBody }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
      messageAttributes: {},
      md5OfBody: MD5OfBody,
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${queueUrl.split("/").at(-1)}`,
      awsRegion: "eu-central-1",
    })),
  };
}

const answerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

/** The ids of the messages or changes that a function reports as failed. @throws where its answer has another form */
export function failedIn(answer: unknown): readonly string[] {
  return answerSchema.parse(answer ?? {}).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}
