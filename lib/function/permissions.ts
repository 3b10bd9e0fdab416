import * as iam from "aws-cdk-lib/aws-iam";
import { webhookKinds } from "../../domain/event/events.ts";

/** A statement that allows exactly these actions on exactly these resources. */
export function allow(actions: readonly string[], resources: readonly string[]): iam.PolicyStatement {
  return new iam.PolicyStatement({ actions: [...actions], resources: [...resources] });
}

/** A statement that allows these actions on the items of some partitions of a table alone. */
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

/** What a batch of PartiQL statements needs that inserts and updates items. */
export const writeStatements = ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"];

/** What an event source mapping does with a queue on the function's behalf. */
export const consumeQueue = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/** What a search of a queue needs that deletes what it finds and gives back the rest. */
export const searchQueue = [
  "sqs:ReceiveMessage",
  "sqs:DeleteMessage",
  "sqs:ChangeMessageVisibility",
  "sqs:GetQueueAttributes",
];

/** What finds the queues that carry a tag. */
export const findQueues = ["sqs:ListQueues", "sqs:ListQueueTags"];

/**
 * A statement that allows these actions on whatever carries a tag with that value.
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
 * Every resource of an allowing statement that is no single resource, and why: `*` alone, or `*` at the end of
 * the objects of a bucket. A test holds the template against this list.
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
    actions: ["s3:GetObject", "s3:DeleteObject"],
    reason: "Each large body is an object of its own, named by its digest.",
  },
  ...webhookKinds.map((kind) => ({
    resource: `/bodies/${kind}/*`,
    actions: ["s3:PutObject", "s3:GetObject"],
    reason: "Each large body of a kind is an object of its own, named by its digest.",
  })),
  {
    resource: "/data/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
    reason: "Each large document is an object of its own, named by its subject and digest.",
  },
  {
    resource: "/pages/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
    reason: "What was read of a list is an object of its own, named by its subject and digest.",
  },
  {
    resource: "/dead-letters/*",
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
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
    actions: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"],
    reason:
      "Lambda names the objects of a failure destination itself, from the root of the bucket; an erasure looks at all.",
  },
];

/**
 * The wildcards that a statement names, each with its reason.
 * @throws for one that `resourceWildcards` does not list
 */
export function wildcardsOf({
  actions,
  resources,
}: iam.PolicyStatement): readonly { readonly resource: string; readonly reason: string }[] {
  return resources
    .filter((resource) => resource.endsWith("*"))
    .map((resource) => {
      // What stands before it is the bucket's ARN, which is known at deploy time only.
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
