import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { backgroundInvoker, leanClient } from "../../adapters/aws/client.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { briefRequests, lastKnown, secretReader } from "../../adapters/secrets/secret-reader.ts";
import { singleSender } from "../../adapters/sqs/sqs-sender.ts";
import { parseSourceAddresses } from "../../domain/core/addresses.ts";
import { fieldsOf, numberOf, optionalBoolean, textsOf } from "../../domain/core/parse.ts";
import { parseSecretHeader, parseWebhookSecret } from "../../domain/core/webhook-secret.ts";
import { isWebhookKind, type WebhookKind } from "../../domain/event/events.ts";
import { credentialFields } from "../../domain/event/payload.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { otherPaths, type ReceiverDependencies, receiver } from "./receiver.ts";

const settings = readSettings();

/**
 * A receiver's dependencies in AWS. Clients are created once per execution environment.
 * @param prefix of the variables with the queues, in the function that receives several kinds
 */
function dependenciesOf(kind: WebhookKind, prefix = ""): ReceiverDependencies {
  const now = () => new Date();
  const secret = secretReader(
    new SecretsManagerClient(briefRequests),
    variable("WEBHOOK_SECRET_ARN"),
    parseWebhookSecret,
    { now, keptFor: numberOf(settings, "secretCacheSeconds") },
  );
  const sqs = leanClient(new SQSClient({}));
  return {
    send: singleSender(sqs),
    overflow: overflowBucket(variable("OVERFLOW_BUCKET")),
    queueUrl: variable(`${prefix}QUEUE_URL`),
    deadLetterQueueUrl: variable(`${prefix}DEAD_LETTER_QUEUE_URL`),
    secretHeader: parseSecretHeader(settings),
    mappedHeaders: textsOf(fieldsOf(settings.mappedHeaders, "mappedHeaders"), kind),
    answersProbes: optionalBoolean(settings, "answerProbes") ?? false,
    requestReconciliation: backgroundInvoker(sqs.config, variable("RECONCILE_FUNCTION_NAME"), { lost: kind }),
    credentials: credentialFields(textsOf(settings, "credentialFields")),
    maxBodyBytes: numberOf(settings, "maxBodyBytes"),
    isAllowedSource: parseSourceAddresses(settings.sourceAddresses),
    readSecret: lastKnown(secret.read, {
      now,
      onFallback: (error) => log("WEBHOOK_SECRET_STALE", { reason: error.name }),
    }),
    now,
    log,
  };
}

/** Prefix of a kind's environment variables. */
const prefixOf = (kind: string) => `${kind.toUpperCase().replaceAll("-", "_")}_`;

/** Receives the kind in the settings. Without one, it receives all kinds by paths that match no route. */
export const handler = logged(
  isWebhookKind(settings.kind)
    ? receiver(settings.kind, dependenciesOf(settings.kind))
    : otherPaths((kind) => receiver(kind, dependenciesOf(kind, prefixOf(kind)))),
);
