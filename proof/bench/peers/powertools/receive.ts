import { Logger } from "@aws-lambda-powertools/logger";
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import { JSONStringified } from "@aws-lambda-powertools/parser/helpers";
import { parser } from "@aws-lambda-powertools/parser/middleware";
import { APIGatewayProxyEventV2Schema } from "@aws-lambda-powertools/parser/schemas/api-gatewayv2";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import middy from "@middy/core";
import type { z } from "zod";
import { identify, isSecret, secretHeader, variable } from "../job.ts";
import { payload, type Received } from "../payloads.ts";
import { cachedSecret } from "../provider.ts";

const logger = new Logger({ serviceName: "receive" });
const queues = new SQSClient({});
const readSecret = cachedSecret("WEBHOOK_SECRET_ARN", "current");
const kind = variable("WEBHOOK_KIND");

const schema = APIGatewayProxyEventV2Schema;
const body = JSONStringified(payload);

export const handler = middy()
  .use(injectLambdaContext(logger))
  .use(parser({ schema }))
  .handler(async (event: z.output<typeof schema>) => {
    if (!isSecret(event.headers?.[secretHeader], await readSecret())) return { statusCode: 401 };
    const raw = event.body ?? "";
    const id = identify(kind, raw);
    const message: Received = { id, kind, receivedAt: new Date().toISOString(), payload: body.parse(raw) };
    await queues.send(
      new SendMessageCommand({ QueueUrl: variable("QUEUE_URL"), MessageBody: JSON.stringify(message) }),
    );
    logger.info("webhook accepted", { kind, id });
    return { statusCode: 202 };
  });
