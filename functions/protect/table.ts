import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  DynamoDBClient,
  UpdateTableCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { variable } from "../runtime/environment.ts";
import { logged, sanitizeErrors } from "../runtime/log.ts";
import { customResource, isCreationRolledBack } from "./custom-resource.ts";

/** Maximum time until a table is active again; less than the function's timeout. */
const longestUpdateInSeconds = 20;

const client = new DynamoDBClient({});
const cloudFormation = new CloudFormationClient({});
const TableName = variable("TABLE_NAME");

/** Sets the table's deletion protection, unless it already has that value. */
async function setProtection(isProtected: boolean): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.DeletionProtectionEnabled === isProtected) return;
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: isProtected }));
  // CloudFormation removes the table next, which DynamoDB refuses during an update.
  if (!isProtected)
    await waitUntilTableExists({ client, maxWaitTime: longestUpdateInSeconds, minDelay: 1 }, { TableName });
}

/**
 * Handles the resource that depends on all others of the pipeline. Once it is created, the pipeline is complete and
 * its table is protected. If the stack's creation fails after that, the protection is switched off again, so
 * that the table can be removed.
 */
const handle = sanitizeErrors(
  customResource(async ({ type, stackId }) => {
    if (type !== "Delete") await setProtection(true);
    else if (await isCreationRolledBack(cloudFormation, stackId)) await setProtection(false);
  }),
);

export const handler = logged(handle);
