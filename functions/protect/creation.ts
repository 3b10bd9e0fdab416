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
    const protection = { StackName: stackId, EnableTerminationProtection: false };
    try {
      await client.send(new UpdateTerminationProtectionCommand(protection));
    } catch (error) {
      if (!isBeingRemoved(error)) throw error;
    }
  }),
);

/**
 * A stack that is removed as a whole is protected no more, and CloudFormation refuses to change that. Source: CloudFormation
 * user guide, "Protect CloudFormation stacks from being deleted": any status except DELETE_IN_PROGRESS or DELETE_COMPLETE.
 */
function isBeingRemoved(error: unknown): boolean {
  return error instanceof Error && error.name === "ValidationError";
}

export const handler = logged(handle);
