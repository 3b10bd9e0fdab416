import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";

/** The one table: events, states, data, links, claims and the pacing of calls; its stream is the outbox. */
export class EventTable extends Construct {
  readonly table: dynamodb.Table;
  readonly streamArn: string;

  /** @param isProtected whether a deletion must first be allowed by hand */
  constructor(scope: Construct, id: string, isProtected: boolean) {
    super(scope, id);
    this.table = new dynamodb.Table(this, "Table", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: "expiresAt",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: isProtected,
    });
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined)
      throw new Error("The event table has no stream; set its stream view type");
    this.streamArn = tableStreamArn;
  }
}
