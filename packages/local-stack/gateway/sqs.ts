import { asString, type JsonObject, type Operation, type Place, UnknownOperationError } from "./operation.ts";

export type QueueScope = Place & { readonly origin: string };

const operations: readonly string[] = [
  "ChangeMessageVisibility",
  "CreateQueue",
  "DeleteMessage",
  "DeleteQueue",
  "GetQueueAttributes",
  "GetQueueUrl",
  "ListQueueTags",
  "ListQueues",
  "PurgeQueue",
  "ReceiveMessage",
  "SendMessage",
  "SetQueueAttributes",
  "TagQueue",
  "UntagQueue",
];

/** Answers of these carry QueueUrls, which must name the gateway: clients send to the address in them. */
const answersWithQueueUrls = new Set(["CreateQueue", "GetQueueUrl", "ListQueues"]);

export function sqsOperation(name: string, input: JsonObject, scope: QueueScope): Operation {
  // A batch needs the permission of its single operation.
  const permission = name.replace(/^(ChangeMessageVisibility|DeleteMessage|SendMessage)Batch$/, "$1");
  if (!operations.includes(permission))
    throw new UnknownOperationError(`sqs:${name}`, `the operation sqs:${name}`);
  return {
    service: "sqs",
    action: `sqs:${name}`,
    needs: [{ action: `sqs:${permission}`, resource: name === "ListQueues" ? "*" : queueArn(input, scope) }],
    ...(answersWithQueueUrls.has(name) ? { rewriteAnswer: (body) => withGatewayOrigin(body, scope) } : {}),
  };
}

function queueArn(input: JsonObject, scope: QueueScope): string {
  const url = asString(input.QueueUrl);
  if (url === "") return `arn:aws:sqs:${scope.region}:${scope.account}:${asString(input.QueueName)}`;
  const [account = "", name = ""] = url.replace(/^https?:\/\/[^/]*\//, "").split("/");
  return `arn:aws:sqs:${scope.region}:${account}:${name}`;
}

/** The engine finds a queue by the path of its QueueUrl, so requests need no rewriting back. */
function withGatewayOrigin(body: string, scope: QueueScope): string {
  return body.replace(/"https?:\/\/[^/"]+(\/\d{12}\/[^"/]+)"/g, (_, path: string) =>
    JSON.stringify(scope.origin + path),
  );
}
