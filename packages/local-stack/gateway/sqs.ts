import { asString, type JsonObject, type Operation, UnknownOperationError } from "./operation.ts";

export type QueueScope = { readonly region: string; readonly account: string; readonly origin: string };

/** Operations and the permission that each needs: a batch needs the permission of its single operation. */
const permissions: Readonly<Record<string, string>> = {
  ChangeMessageVisibility: "ChangeMessageVisibility",
  ChangeMessageVisibilityBatch: "ChangeMessageVisibility",
  CreateQueue: "CreateQueue",
  DeleteMessage: "DeleteMessage",
  DeleteMessageBatch: "DeleteMessage",
  DeleteQueue: "DeleteQueue",
  GetQueueAttributes: "GetQueueAttributes",
  GetQueueUrl: "GetQueueUrl",
  ListQueueTags: "ListQueueTags",
  ListQueues: "ListQueues",
  PurgeQueue: "PurgeQueue",
  ReceiveMessage: "ReceiveMessage",
  SendMessage: "SendMessage",
  SendMessageBatch: "SendMessage",
  SetQueueAttributes: "SetQueueAttributes",
  TagQueue: "TagQueue",
  UntagQueue: "UntagQueue",
};

/** Answers of these carry QueueUrls, which must name the gateway: clients send to the address in them. */
const answersWithQueueUrls = new Set(["CreateQueue", "GetQueueUrl", "ListQueues"]);

export function sqsOperation(name: string, input: JsonObject, scope: QueueScope): Operation {
  const permission = permissions[name];
  if (permission === undefined) {
    throw new UnknownOperationError(
      `sqs:${name}`,
      `The local gateway does not know the operation sqs:${name}`,
    );
  }
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
