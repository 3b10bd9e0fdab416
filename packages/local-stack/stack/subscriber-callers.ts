import { parsePolicy } from "../iam/policy.ts";
import { outputOf, type PipelineOutputs, subscribersOf } from "../outputs.ts";
import type { LocalStack } from "./stack-controls.ts";
import { newCredentials } from "./stack-parts.ts";

export type SubscriberCaller = ReturnType<typeof registerSubscribers>[number];

/** IAM permissions of a queue's reader. */
const readQueue = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
  "sqs:GetQueueUrl",
];

/**
 * Registers each subscriber as a caller with its own policy: the first role or user that its settings name,
 * or a role of the named account. A subscriber that names none gets a role of this account.
 */
export function registerSubscribers(
  stack: LocalStack,
  pipeline: PipelineOutputs = { id: "", outputs: stack.outputs },
) {
  return subscribersOf(pipeline).map(({ name, types, queueUrl, principals }) => {
    const caller = `subscriber ${[pipeline.id, name].filter(Boolean).join("/")}`;
    const credentials = newCredentials(caller);
    const [principal] = principals;
    const role = `arn:aws:iam::${accountOf(principal) ?? stack.account}:role/${name}`;
    const queue = [...stack.queues.values()].find(({ url }) => url === queueUrl);
    const own = {
      Version: "2012-10-17",
      Statement: [
        { Effect: "Allow", Action: readQueue, Resource: queue?.arn ?? "*" },
        ...readingOf(pipeline, name),
      ],
    };
    stack.gateway.register({
      name: caller,
      arn: principal?.includes("/") === true ? principal : role,
      ...credentials,
      policies: [parsePolicy(own, name)],
    });
    return { name, ...(types && { types }), queueUrl, credentials };
  });
}

/**
 * Permissions to read documents: through the function URL, or through the subscriber's alias; none if
 * messages contain documents.
 */
function readingOf(pipeline: PipelineOutputs, name: string): readonly object[] {
  const url = outputOf(pipeline, "DocumentsUrl");
  if (url.startsWith("arn:"))
    return [{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource: `${url.slice(0, -1)}:${name}` }];
  if (url.startsWith("urn:")) return [];
  const Resource = outputOf(pipeline, "DocumentsFunctionArn");
  const Condition = { Bool: { "lambda:InvokedViaFunctionUrl": "true" } };
  return [
    { Effect: "Allow", Action: "lambda:InvokeFunctionUrl", Resource },
    { Effect: "Allow", Action: "lambda:InvokeFunction", Resource, Condition },
  ];
}

/** Account digits, alone or in an ARN. */
function accountOf(principal: string | undefined): string | undefined {
  return /^(\d{12})$|^arn:[^:]+:iam::(\d{12}):/
    .exec(principal ?? "")
    ?.slice(1)
    .find(Boolean);
}
