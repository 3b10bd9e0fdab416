import { type CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { failureOf } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, optionalText, textOf } from "../../domain/core/parse.ts";

export type ResourceRequest = {
  readonly type: "Create" | "Update" | "Delete";
  readonly stackId: string;
};

/**
 * Creates the handler of a custom resource. CloudFormation waits for an answer, so failures are answered too;
 * the stack's events show their reason.
 * Sources: CloudFormation template reference, "Custom resource request objects" and "Custom resource response
 * objects".
 */
export function customResource(
  act: (request: ResourceRequest) => Promise<void>,
): (event: unknown) => Promise<void> {
  return async (event) => {
    const fields = fieldsOf(event, "the request");
    const outcome = await outcomeOf(() => act({ type: typeOf(fields), stackId: textOf(fields, "StackId") }));
    const logicalId = textOf(fields, "LogicalResourceId");
    const answer = {
      ...outcome,
      // Another id would mean that the resource was replaced.
      PhysicalResourceId: optionalText(fields, "PhysicalResourceId") ?? logicalId,
      LogicalResourceId: logicalId,
      StackId: textOf(fields, "StackId"),
      RequestId: textOf(fields, "RequestId"),
    };
    // The URL is signed for a request without a content type.
    const headers = { "content-type": "" };
    const { ok, status } = await fetch(textOf(fields, "ResponseURL"), {
      method: "PUT",
      headers,
      body: JSON.stringify(answer),
    });
    if (!ok) throw new Error(`CloudFormation's address for the answer returned ${status}`);
  };
}

async function outcomeOf(
  act: () => Promise<void>,
): Promise<{ Status: "SUCCESS" | "FAILED"; Reason?: string }> {
  try {
    await act();
    return { Status: "SUCCESS" };
  } catch (error) {
    return { Status: "FAILED", Reason: failureOf(error).reason };
  }
}

function typeOf(fields: Fields): ResourceRequest["type"] {
  const type = textOf(fields, "RequestType");
  if (type === "Create" || type === "Update" || type === "Delete") return type;
  throw new Error(`${type} is no request of a custom resource`);
}

/**
 * Whether CloudFormation is rolling back the creation of a stack. The rollback of an update, and a removal,
 * have other statuses. Source: CloudFormation user guide, "Stack status codes".
 */
export async function isCreationRolledBack(client: CloudFormationClient, stackId: string): Promise<boolean> {
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackId }));
  return stack?.StackStatus === "ROLLBACK_IN_PROGRESS";
}
