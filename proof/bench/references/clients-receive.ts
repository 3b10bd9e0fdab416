import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";

/** Only the clients that a receiver needs. */
const clients = [new SecretsManagerClient({}), new SQSClient({})];

export const handler = async () => clients.length;
