import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";

/** The clients that a receiver can't do without, and nothing else. */
const clients = [new SecretsManagerClient({}), new SQSClient({})];

export const handler = async () => clients.length;
