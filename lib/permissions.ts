import * as iam from "aws-cdk-lib/aws-iam";

/** A statement that allows exactly these actions on exactly these resources. */
export function allow(actions: readonly string[], resources: readonly string[]): iam.PolicyStatement {
  return new iam.PolicyStatement({ actions: [...actions], resources: [...resources] });
}

/** What an event source mapping does with a queue on the function's behalf. */
export const consumeQueue = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/**
 * Every resource of an allowing statement that is no single resource, and why: `*` alone, or `*` at the end of
 * the objects of a bucket. A test holds the template against this list.
 */
export const resourceWildcards: readonly {
  readonly resource: string;
  readonly actions: readonly string[];
  readonly reason: string;
}[] = [
  {
    resource: "*",
    actions: ["dynamodb:ListStreams"],
    reason: "The action lists streams and knows no resource; Lambda refuses the event source without it.",
  },
  {
    resource: "/bodies/*",
    actions: ["s3:PutObject", "s3:GetObject"],
    reason: "Each large body is an object of its own, named by its digest.",
  },
  {
    resource: "/data/*",
    actions: ["s3:PutObject"],
    reason: "Each large data set is an object of its own, named by its subject and digest.",
  },
  {
    resource: "/*",
    actions: ["s3:PutObject"],
    reason: "Lambda names the objects of a failure destination itself, from the root of the bucket.",
  },
];
