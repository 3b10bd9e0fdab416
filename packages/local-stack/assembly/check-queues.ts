import type { Policy } from "../iam/policy.ts";
import type { QueuePlan } from "./plan.ts";
import { brokenRules, PlanError, type Problem } from "./problems.ts";

const mostReceives = 1000;

/**
 * Checks queues by the rules of CreateQueue and SetQueueAttributes.
 * Source: SQS API reference, "CreateQueue" and "SetQueueAttributes"; developer guide, "Dead-letter queues",
 * "FIFO queues".
 */
export function checkQueues(queues: readonly QueuePlan[]): Problem[] {
  return queues.flatMap((queue) => [...checkFifo(queue), ...checkRedrive(queue, queues)]);
}

export function isFifo({ attributes }: Pick<QueuePlan, "attributes">): boolean {
  return attributes.FifoQueue === "true";
}

/**
 * @throws PlanError for a policy that SQS would refuse.
 * Source: SQS developer guide, "Amazon SQS policy quotas".
 */
export function checkQueuePolicy(document: unknown, { statements }: Policy): void {
  const principals = statements.reduce((sum, { principals: named = [] }) => sum + named.length, 0);
  const found = [
    { count: Buffer.byteLength(JSON.stringify(document)), most: 8_192, what: "bytes" },
    { count: statements.length, most: 20, what: "statements" },
    { count: principals, most: 50, what: "principals" },
  ].find(({ count, most }) => count > most);
  if (found === undefined) return;
  const { count, most, what } = found;
  throw new PlanError(
    `the policy of a queue has ${count} ${what}, and SQS takes ${most}`,
    "Name fewer principals, or a whole account in their place.",
  );
}

function checkFifo(queue: QueuePlan): Problem[] {
  const { logicalId, name, attributes } = queue;
  const perGroup = attributes.FifoThroughputLimit === "perMessageGroupId";
  return brokenRules(logicalId, [
    [
      isFifo(queue) !== name.endsWith(".fifo"),
      `the name ${name} does not fit: FIFO queues, and only they, have names that end in .fifo`,
      "Leave QueueName out, or correct it or FifoQueue.",
    ],
    [
      perGroup && attributes.DeduplicationScope !== "messageGroup",
      "its FifoThroughputLimit is perMessageGroupId, and its DeduplicationScope is not messageGroup",
      "Set DeduplicationScope to messageGroup.",
    ],
  ]);
}

function checkRedrive(queue: QueuePlan, queues: readonly QueuePlan[]): Problem[] {
  const { logicalId, redrive } = queue;
  if (redrive === undefined) return [];
  const { maxReceiveCount } = redrive;
  const target = queues.find(({ arn }) => arn === redrive.deadLetterTargetArn);
  return brokenRules(logicalId, [
    [
      !Number.isInteger(maxReceiveCount) || maxReceiveCount < 1 || maxReceiveCount > mostReceives,
      `its maxReceiveCount is ${maxReceiveCount}`,
      `Set a whole number from 1 to ${mostReceives}.`,
    ],
    [
      target !== undefined && isFifo(target) !== isFifo(queue),
      `its dead-letter queue ${target?.logicalId} is of the other type`,
      "The dead-letter queue of a FIFO queue is a FIFO queue, that of a standard queue a standard queue.",
    ],
  ]);
}
