import type { SQSClient } from "@aws-sdk/client-sqs";
import { documentReads, type ReadDocument } from "../../../adapters/aws/document-reads.ts";
import { type StoredEvents, storedEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import type { WebhookSecret } from "../../../domain/core/webhook-secret.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import type { Clients } from "../core/clients.ts";
import { CommandError } from "../core/command-error.ts";
import type { Deployment } from "../core/deployment.ts";
import { subscriberQueues, workQueue } from "../status/work-queues.ts";
import { chooseSubscribers, type SubscriberChoice } from "./subscribers.ts";
import { webhooksAddress } from "./webhooks-address.ts";

/** All that a run knows of the stage: its outputs, and what they name. */
export type Target = {
  readonly stage: string;
  readonly webhooksUrl: string;
  readonly secretHeader: string;
  readonly secret: WebhookSecret;
  readonly deadLetterQueueUrl: (kind: WebhookKind) => string;
  readonly subscribers: SubscriberChoice;
  readonly sqs: SQSClient;
  readonly stored: StoredEvents;
  readonly documentsUrl: string;
  readonly readDocument: ReadDocument;
};

/**
 * Reads what the outputs name, before anything is sent.
 * @param names the subscribers whose queues may be read; none: the one named `smoke`, and on this machine all
 * @throws CommandError where the stage can't be tested as it is
 */
export async function openTarget(
  deployment: Deployment,
  { secretsManager, dynamodb, sqs }: Clients,
  names: readonly string[],
): Promise<Target> {
  const { stage, client, output } = deployment;
  const subscribers = chooseSubscribers(subscriberQueues(deployment), names, client.endpoint !== undefined);
  const { secret } = await webhookSecretStore(secretsManager, output("WebhookSecretArn")).read();
  if (secret === undefined)
    throw new CommandError("noDeployment", `The webhook secret of the stage ${stage} is empty.`);
  return {
    stage,
    webhooksUrl: webhooksAddress(deployment),
    secretHeader: output("WebhookSecretHeader"),
    deadLetterQueueUrl: (kind) => workQueue(deployment, kind).deadLetterQueueUrl,
    secret,
    subscribers,
    sqs,
    stored: storedEvents(dynamodb, output("TableName")),
    documentsUrl: output("DocumentsUrl"),
    readDocument: documentReads(sqs.config),
  };
}
