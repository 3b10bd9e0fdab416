import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { identify, isSecret, secretHeader, variable } from "../job.ts";
import { payload, type Received } from "../payloads.ts";
import { cachedSecret } from "../provider.ts";

const queues = new SQSClient({});
const readSecret = cachedSecret("WEBHOOK_SECRET_ARN", "current");
const kind = variable("WEBHOOK_KIND");

export async function handler({ headers, body: raw = "" }: APIGatewayProxyEventV2) {
  if (!isSecret(headers[secretHeader], await readSecret())) return { statusCode: 401 };
  const id = identify(kind, raw);
  const message: Received = {
    id,
    kind,
    receivedAt: new Date().toISOString(),
    payload: payload.parse(JSON.parse(raw)),
  };
  await queues.send(
    new SendMessageCommand({ QueueUrl: variable("QUEUE_URL"), MessageBody: JSON.stringify(message) }),
  );
  console.log(JSON.stringify({ message: "webhook accepted", kind, id }));
  return { statusCode: 202 };
}
