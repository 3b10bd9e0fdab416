import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { protectTable } from "../../adapters/dynamodb/table-protection.ts";
import { variable } from "../runtime/environment.ts";
import { logged } from "../runtime/log.ts";
import { sanitizeErrors } from "../runtime/sanitize-errors.ts";
import { customResource } from "./custom-resource.ts";

const client = new DynamoDBClient({});
const table = variable("TABLE_NAME");

/** The resource that depends on all others of the stack: once it is created, the stack stands. */
const handle = sanitizeErrors(
  customResource(async ({ type }) => {
    if (type !== "Delete") await protectTable(client, table);
  }),
);

export const handler = logged(handle);
