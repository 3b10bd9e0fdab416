/** Checks that Lambda runs when an event source mapping is created. */

import { isFifo } from "../assembly/check-queues.ts";
import type {
  FunctionPlan,
  QueueSourcePlan,
  ResourcePolicyPlan,
  StreamSourcePlan,
} from "../assembly/plan.ts";
import { brokenRules, type Problem } from "../assembly/problems.ts";
import { decide } from "../iam/evaluate.ts";

/**
 * Returns each reason for which Lambda would refuse to create the mapping: a permission that the function's
 * role lacks, or a visibility timeout shorter than the function's time-out.
 * Source: Lambda developer guide, "Using Lambda with Amazon SQS", "… with Amazon DynamoDB", required
 * permissions.
 */
export function checkEventSource(
  source: QueueSourcePlan | StreamSourcePlan,
  target: FunctionPlan,
  resourcePolicies: readonly ResourcePolicyPlan[],
): Problem[] {
  const isAllowed = ([action, resource]: Need): boolean =>
    decide(
      { principal: target.roleArn, action, resource, context: { "aws:SecureTransport": "true" } },
      target.policies,
      resourcePolicies.find(({ arn }) => resource === arn || resource.startsWith(`${arn}/`))?.policy,
    ).allowed;
  const missing = needs(source)
    .filter((need) => !isAllowed(need))
    .map(([action, resource]) => ({
      logicalId: source.logicalId,
      what: `the role of ${target.logicalId} may not ${action} on ${resource}`,
      remedy: `Allow ${action} in the role's policy.`,
    }));
  return [...missing, ...checkVisibility(source, target), ...checkLimits(source)];
}

type Need = readonly [action: string, resource: string];

function needs(source: QueueSourcePlan | StreamSourcePlan): Need[] {
  switch (source.kind) {
    case "queue":
      return ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"].map((action) => [
        action,
        source.queue.arn,
      ]);
    case "stream":
      return [
        ["dynamodb:DescribeStream", source.streamArn],
        ["dynamodb:GetRecords", source.streamArn],
        ["dynamodb:GetShardIterator", source.streamArn],
        ["dynamodb:ListStreams", "*"],
        ...destinationNeeds(source),
      ];
  }
}

function destinationNeeds({ failureBucket, id }: StreamSourcePlan): Need[] {
  if (failureBucket === undefined) return [];
  return [
    ["s3:PutObject", `${failureBucket.arn}/aws/lambda/${id}/record`],
    ["s3:ListBucket", failureBucket.arn],
  ];
}

function checkVisibility(source: QueueSourcePlan | StreamSourcePlan, target: FunctionPlan): Problem[] {
  if (source.kind === "stream") return [];
  const { logicalId, visibilitySeconds } = source.queue;
  return brokenRules(source.logicalId, [
    [
      visibilitySeconds < target.timeoutSeconds,
      `the visibility time-out of ${logicalId} (${visibilitySeconds} s) is less than the time-out of ${target.logicalId} (${target.timeoutSeconds} s)`,
      "Set VisibilityTimeout to six times the function's Timeout.",
    ],
  ]);
}

/** Source: Lambda API reference, "CreateEventSourceMapping". */
function checkLimits(source: QueueSourcePlan | StreamSourcePlan): Problem[] {
  if (source.kind === "stream") return [];
  const { logicalId, batchSize, windowSeconds, maximumConcurrency = 2, queue } = source;
  const mostAtOnce = isFifo(queue) ? 10 : 10_000;
  return brokenRules(logicalId, [
    [
      batchSize < 1 || batchSize > mostAtOnce,
      `its BatchSize is ${batchSize}`,
      `Set 1 to ${mostAtOnce} for this type of queue.`,
    ],
    [
      isFifo(queue) && windowSeconds > 0,
      "it has a batching window, and its queue is FIFO",
      "Leave the window out.",
    ],
    [
      !isFifo(queue) && batchSize > 10 && windowSeconds < 1,
      `its BatchSize is ${batchSize} without a batching window`,
      "Set MaximumBatchingWindowInSeconds to 1 or more, or BatchSize to 10 or less.",
    ],
    [
      maximumConcurrency < 2 || maximumConcurrency > 1000,
      `its MaximumConcurrency is ${maximumConcurrency}`,
      "Set 2 to 1000.",
    ],
  ]);
}
