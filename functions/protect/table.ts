import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import {
  DescribeTableCommand,
  DynamoDBClient,
  UpdateTableCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { variable } from "../runtime/environment.ts";
import { logged } from "../runtime/log.ts";
import { sanitizeErrors } from "../runtime/sanitize-errors.ts";
import { customResource } from "./custom-resource.ts";
import { isCreationRolledBack } from "./rollback.ts";

/** How long a table may take to be active again: less than the function's time-out. */
const longestUpdateInSeconds = 20;

const client = new DynamoDBClient({});
const cloudFormation = new CloudFormationClient({});
const TableName = variable("TABLE_NAME");

/** Switches the table's protection from deletion; one that is as wanted is left as it is. */
async function setProtection(isProtected: boolean): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.DeletionProtectionEnabled === isProtected) return;
  await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: isProtected }));
  // CloudFormation removes the table next, which DynamoDB refuses while it is being updated.
  if (!isProtected)
    await waitUntilTableExists({ client, maxWaitTime: longestUpdateInSeconds, minDelay: 1 }, { TableName });
}

/**
 * The resource that depends on all others of the pipeline: once it is created, the pipeline stands, and its table is protected.
 * Where the stack's creation fails after that, the protection is switched off again, so that the table can be removed.
 */
const handle = sanitizeErrors(
  customResource(async ({ type, stackId }) => {
    if (type !== "Delete") await setProtection(true);
    else if (await isCreationRolledBack(cloudFormation, stackId)) await setProtection(false);
  }),
);

export const handler = logged(handle);
