import { failureOf } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, optionalText, textOf } from "../../domain/core/parse.ts";

/** What becomes of a custom resource, in CloudFormation's words. */
export type ResourceRequest = {
  readonly type: "Create" | "Update" | "Delete";
  readonly stackId: string;
};

/**
 * A handler of a custom resource. It answers each request, since CloudFormation waits until it has an answer: what fails is
 * answered with its reason, which the stack's events then show. Sources: CloudFormation template reference, "Custom resource
 * request objects" and "Custom resource response objects".
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
      // Another one would mean that the resource was replaced.
      PhysicalResourceId: optionalText(fields, "PhysicalResourceId") ?? logicalId,
      LogicalResourceId: logicalId,
      StackId: textOf(fields, "StackId"),
      RequestId: textOf(fields, "RequestId"),
    };
    // The address is signed for a request without a type of its content.
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
