import { randomUUID } from "node:crypto";
import type { Answer } from "../http-server.ts";
import { errorAnswer, escapeXml } from "./answer.ts";
import { type Operation, type Place, UnknownOperationError } from "./operation.ts";

export type StackListing = {
  readonly name: string;
  readonly resources: readonly {
    readonly logicalId: string;
    readonly type: string;
    readonly physicalId: string;
  }[];
};

const pageSize = 100;

/**
 * Parses a call to CloudFormation. Source: CloudFormation API reference, "ListStackResources".
 * @throws UnknownOperationError for every other operation
 */
export function cloudFormationOperation(body: string, { region, account }: Place): Operation {
  const input = new URLSearchParams(body);
  const name = input.get("Action") ?? "";
  const action = `cloudformation:${name}`;
  if (name !== "ListStackResources")
    throw new UnknownOperationError(
      action,
      `the CloudFormation operation ${name}; it knows ListStackResources`,
    );
  const resource = `arn:aws:cloudformation:${region}:${account}:stack/${input.get("StackName") ?? ""}/local`;
  return { service: "cloudformation", action, needs: [{ action, resource }] };
}

export function cloudFormationAnswer(body: string, stack: StackListing | undefined): Answer {
  const input = new URLSearchParams(body);
  const name = input.get("StackName") ?? "";
  if (stack?.name !== name)
    return errorAnswer("cloudformation", {
      status: 400,
      errorType: "ValidationError",
      message: `Stack with id ${name} does not exist`,
    });
  const begin = Number(input.get("NextToken") ?? 0);
  const end = begin + pageSize;
  const members = stack.resources
    .slice(begin, end)
    .map(
      ({ logicalId, type, physicalId }) =>
        `<member><LogicalResourceId>${escapeXml(logicalId)}</LogicalResourceId><ResourceType>${escapeXml(type)}</ResourceType>` +
        `<PhysicalResourceId>${escapeXml(physicalId)}</PhysicalResourceId><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`,
    );
  const next = end < stack.resources.length ? `<NextToken>${end}</NextToken>` : "";
  const text =
    `<ListStackResourcesResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><ListStackResourcesResult>` +
    `<StackResourceSummaries>${members.join("")}</StackResourceSummaries>${next}</ListStackResourcesResult>` +
    `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></ListStackResourcesResponse>`;
  return { status: 200, headers: { "content-type": "text/xml" }, body: Buffer.from(text) };
}
