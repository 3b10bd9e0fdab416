import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { eventTable, type RecordReceipt } from "../../../../adapters/dynamodb/event-table.ts";
import { type SecretReader, secretReader } from "../../../../adapters/secrets/secret-reader.ts";
import { type Send, sqsSender } from "../../../../adapters/sqs/sqs-sender.ts";

/** The ports to AWS of the receive and store functions, with clients as the environment says. */
export type Ports = {
  readonly send: () => Send;
  readonly recordIn: (tableName: string) => RecordReceipt;
  readonly secret: (id: string) => SecretReader<string>;
};

export const ports: Ports = {
  send: () => sqsSender(new SQSClient({})),
  recordIn: (tableName) => eventTable(new DynamoDBClient({}), tableName, 30),
  secret: (id) =>
    secretReader(
      new SecretsManagerClient({}),
      id,
      (text) => text,
      () => new Date(),
    ),
};
