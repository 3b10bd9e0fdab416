import { randomUUID } from "node:crypto";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { webhookSecretStore } from "../../adapters/secrets/webhook-secret.ts";
import { deleteAll, receiveBatch } from "../../adapters/sqs/queue-messages.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { parseSecretHeader } from "../../domain/core/webhook-secret.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { canary } from "./canary.ts";

const settings = readSettings();
const sqs = new SQSClient({});
const secret = webhookSecretStore(new SecretsManagerClient({}), variable("WEBHOOK_SECRET_ARN"));
const queueUrl = variable("CANARY_QUEUE_URL");
const pollSeconds = 5;
const withinSeconds = numberOf(settings, "withinSeconds");

export const handler = logged(
  sanitizeErrors(
    canary({
      readSecret: async () => (await secret.read()).secret,
      secretHeader: parseSecretHeader(settings),
      webhooksUrl: variable("WEBHOOKS_URL"),
      hasArrived: async (id) => {
        const messages = await receiveBatch(sqs, queueUrl, {
          waitSeconds: pollSeconds,
          visibilityTimeout: pollSeconds,
        });
        // Leaves the canaries of other runs.
        const own = messages.filter(({ Body }) => Body === id);
        await deleteAll(sqs, queueUrl, own);
        return own.length > 0;
      },
      newId: randomUUID,
      withinSeconds,
      now: () => new Date(),
      log,
    }),
  ),
);
