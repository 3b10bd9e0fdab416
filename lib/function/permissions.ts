import * as iam from "aws-cdk-lib/aws-iam";
import { webhookKinds } from "../../domain/event/events.ts";

/** A statement that allows exactly these actions on exactly these resources. */
export function allow(actions: readonly string[], resources: readonly string[]): iam.PolicyStatement {
  return new iam.PolicyStatement({ actions: [...actions], resources: [...resources] });
}

/** A statement that allows these actions only on the items of some partitions of a table. */
export function allowItems(
  actions: readonly string[],
  tableArn: string,
  partitions: readonly string[],
): iam.PolicyStatement {
  return new iam.PolicyStatement({
    actions: [...actions],
    resources: [tableArn],
    conditions: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [...partitions] } },
  });
}

/** Actions for a batch of PartiQL statements that inserts and updates items. */
export const writeStatements = ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"];

/** Actions for an event source mapping on a queue. */
export const consumeQueue = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/** Actions for a search of a queue, which deletes what it finds and releases the other messages. */
export const searchQueue = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
];

/** Actions for finding queues by their tag. */
export const findQueues = ["sqs:ListQueues", "sqs:ListQueueTags"];

/**
 * A statement that allows these actions on any resource whose tag has that value.
 * Source: SQS developer guide, "Attribute-based access control for Amazon SQS".
 */
export function allowTagged(actions: readonly string[], key: string, value: string): iam.PolicyStatement {
  return new iam.PolicyStatement({
    actions: [...actions],
    resources: ["*"],
    conditions: { StringEquals: { [`aws:ResourceTag/${key}`]: value } },
  });
}

export type ResourceWildcard = {
  readonly resource: string;
  readonly actions: readonly string[];
  readonly reason: string;
};

/**
 * Every wildcard in an allowing statement, with its reason: `*` alone, or `*` for all objects of a bucket. A test
 * compares the template with this list.
 */
export const resourceWildcards: readonly ResourceWildcard[] = [
  {
    resource: "*",
    actions: ["dynamodb:ListStreams"],
    reason: "The action lists streams and knows no resource; Lambda refuses the event source without it.",
  },
  {
    resource: "*",
    actions: findQueues,
    reason: "Queues of removed subscribers are found by their tag; neither action reads a message.",
  },
  {
    resource: "*",
    actions: searchQueue,
    reason:
      "Queues of removed subscribers have no name in the template: the tag of the statement selects them.",
  },
  {
    resource: "*",
    actions: ["cloudwatch:GetMetricData"],
    reason:
      "The action reads metrics and knows no resource; reconciliation sees by it that webhooks may be lost.",
  },
  {
    resource: "*",
    actions: ["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
    reason:
      "Traces have no resource that could be named: both actions write to the account's and read nothing.",
  },
  {
    resource: "/bodies/*",
    actions: ["s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
    reason: "Each large body is an object of its own, named by its digest.",
  },
  ...webhookKinds.map((kind) => ({
    resource: `/bodies/${kind}/*`,
    actions: ["s3:PutObject", "s3:GetObject"],
    reason: "Each large body of a kind is an object of its own, named by its digest.",
  })),
  {
    resource: "/data/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
    reason: "Each large document is an object of its own, named by its subject and digest.",
  },
  {
    resource: "/pages/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
    reason: "What was read of a list is an object of its own, named by its subject and digest.",
  },
  {
    resource: "/dead-letters/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
    reason: "Each archived dead letter is an object of its own, named by its queue, day and id.",
  },
  {
    resource: "/erased/*",
    actions: ["s3:PutObject"],
    reason: "Each erasure is an object of its own in the log, named by its digest.",
  },
  {
    resource: "/aws/lambda/parked-for/*",
    actions: ["s3:GetObject", "s3:DeleteObject"],
    reason:
      "Changes that are parked for a subscriber are objects of their own, named by their sequence numbers.",
  },
  {
    resource: "/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:DeleteObjectVersion"],
    reason:
      "Lambda names the objects of a failure destination itself, from the root of the bucket; an erasure looks at all.",
  },
];

/**
 * Finds the wildcards of a statement, with their reasons.
 * @throws for a wildcard that `resourceWildcards` does not list
 */
export function wildcardsOf({
  actions,
  resources,
}: iam.PolicyStatement): readonly { readonly resource: string; readonly reason: string }[] {
  return resources
    .filter((resource) => resource.endsWith("*"))
    .map((resource) => {
      // The prefix is the bucket's ARN, which is known only at deploy time.
      const ending = resource.replace(/^\$\{Token\[[^\]]*\]\}/, "");
      const listed = resourceWildcards.find(
        (wildcard) =>
          wildcard.resource === ending && actions.every((action) => wildcard.actions.includes(action)),
      );
      if (listed !== undefined) return { resource, reason: listed.reason };
      throw new Error(
        `${actions.join(", ")} on ${ending}: name one resource, or list the wildcard with its reason in lib/function/permissions.ts`,
      );
    });
}
