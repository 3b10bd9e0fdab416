import type { APIGatewayProxyEventV2, Context, SQSEvent } from "aws-lambda";

/** What Lambda passes beside the event; no function looks at it. */
export const context: Context = {
  callbackWaitsForEmptyEventLoop: false,
  functionName: "fuzz",
  functionVersion: "1",
  invokedFunctionArn: "fuzz",
  memoryLimitInMB: "512",
  awsRequestId: "fuzz",
  logGroupName: "fuzz",
  logStreamName: "fuzz",
  getRemainingTimeInMillis: () => 60_000,
  done: () => undefined,
  fail: () => undefined,
  succeed: () => undefined,
};

/** A call as an HTTP API hands it over. */
export function httpEvent(
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  isBase64Encoded: boolean,
): APIGatewayProxyEventV2 {
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: "/",
    rawQueryString: "",
    headers: { ...headers },
    requestContext: {
      accountId: "0",
      apiId: "fuzz",
      domainName: "fuzz",
      domainPrefix: "fuzz",
      http: { method, path: "/", protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "fuzz" },
      requestId: "fuzz",
      routeKey: "$default",
      stage: "$default",
      time: "",
      timeEpoch: 0,
    },
    isBase64Encoded,
    body,
  };
}

/** A batch of one message. */
export function queueEvent(body: string): SQSEvent {
  const record = {
    messageId: "1",
    receiptHandle: "1",
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "fuzz",
      ApproximateFirstReceiveTimestamp: "0",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "fuzz",
    awsRegion: "fuzz",
  };
  return { Records: [record] };
}
