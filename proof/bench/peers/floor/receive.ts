import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { identify, variable } from "../job.ts";

const queues = new SQSClient({});
const kind = variable("WEBHOOK_KIND");

export async function handler({ body: raw = "" }: APIGatewayProxyEventV2) {
  const message = { id: identify(kind, raw), kind, receivedAt: new Date().toISOString(), raw };
  await queues.send(
    new SendMessageCommand({ QueueUrl: variable("QUEUE_URL"), MessageBody: JSON.stringify(message) }),
  );
  return { statusCode: 202 };
}
