import { CloudFormationClient, UpdateTerminationProtectionCommand } from "@aws-sdk/client-cloudformation";
import { logged } from "../runtime/log.ts";
import { sanitizeErrors } from "../runtime/sanitize-errors.ts";
import { customResource } from "./custom-resource.ts";

const client = new CloudFormationClient({});

/**
 * The resource that all others of the stack depend on, so that it is removed after them: where the stack's creation failed, it
 * lets the stack be removed, which CDK does before it tries again.
 */
const handle = sanitizeErrors(
  customResource(async ({ type, stackId }) => {
    if (type !== "Delete") return;
    await client.send(
      new UpdateTerminationProtectionCommand({ StackName: stackId, EnableTerminationProtection: false }),
    );
  }),
);

export const handler = logged(handle);
