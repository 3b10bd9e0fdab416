import type { Message } from "@aws-sdk/client-sqs";
import { queueRecord } from "@income-events/local-stack/sources/queue-source.ts";
import type { APIGatewayProxyEventV2, Context, SQSEvent } from "aws-lambda";

/** Lambda's context, which no function reads. */
export const context: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: "test",
  functionVersion: "1",
  invokedFunctionArn: "arn:aws:lambda:eu-central-1:000000000000:function:test",
  memoryLimitInMB: "512",
  awsRequestId: "test",
  logGroupName: "test",
  logStreamName: "test",
  getRemainingTimeInMillis: () => 60_000,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
};

export type Request = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
};

/** Event of an HTTP API (payload format 2.0): a body of bytes is base64-encoded. */
export function httpEvent({
  method = "POST",
  path = "/",
  headers = {},
  body,
}: Request): APIGatewayProxyEventV2 {
  const isBase64Encoded = Buffer.isBuffer(body);
  const text = Buffer.isBuffer(body) ? body.toString("base64") : body;
  return {
    version: "2.0",
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: "",
    headers: { ...headers },
    requestContext: {
      accountId: "000000000000",
      apiId: "test",
      domainName: "test",
      domainPrefix: "test",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" },
      requestId: "test",
      routeKey: `${method} ${path}`,
      stage: "$default",
      time: "21/Nov/2026:10:00:00 +0000",
      timeEpoch: 0,
    },
    isBase64Encoded,
    ...(text === undefined ? {} : { body: text }),
  };
}

/** Receive count of a message, and time of the first receive. */
export type Receives = { readonly receives?: number; readonly firstReceivedAt?: Date };

export function sqsEvent(
  messages: readonly Message[],
  { receives = 1, firstReceivedAt = new Date(0) }: Receives = {},
): SQSEvent {
  const Records = messages.map((message) => ({
    ...queueRecord(message, { queue: { arn: "arn:aws:sqs:eu-central-1:000000000000:test" } }, "eu-central-1"),
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: message.Attributes?.SentTimestamp ?? "0",
      SenderId: "test",
      ApproximateFirstReceiveTimestamp: String(firstReceivedAt.getTime()),
    },
  }));
  return { Records };
}
