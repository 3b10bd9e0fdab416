import { CloudFormationClient, UpdateTerminationProtectionCommand } from "@aws-sdk/client-cloudformation";
import { logged, sanitizeErrors } from "../runtime/log.ts";
import { customResource, isCreationRolledBack } from "./custom-resource.ts";

const client = new CloudFormationClient({});

/**
 * Handles the resource that all others of the stack depend on, so that it is removed last. While the stack's failed
 * creation is rolled back, it switches off termination protection, because CDK removes the stack before it
 * tries again. It never does so at any other time.
 */
const handle = sanitizeErrors(
  customResource(async ({ type, stackId }) => {
    if (type !== "Delete" || !(await isCreationRolledBack(client, stackId))) return;
    const protection = { StackName: stackId, EnableTerminationProtection: false };
    await client.send(new UpdateTerminationProtectionCommand(protection));
  }),
);

export const handler = logged(handle);
