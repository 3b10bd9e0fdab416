import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";

/** The table of events, states, data, links, claims and the pacing of calls. Its stream is the outbox. */
export class EventTable extends Construct {
  readonly table: dynamodb.Table;
  readonly streamArn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const encryptionKey = dataKeyOf(this, settings);
    const { maxWriteRequestUnits } = settings.table;
    this.table = new dynamodb.Table(this, "Table", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      stream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: "expiresAt",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...(maxWriteRequestUnits !== undefined && { maxWriteRequestUnits }),
      ...(encryptionKey && { encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
    });
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined)
      throw new Error("The event table has no stream; set its stream view type");
    this.streamArn = tableStreamArn;
  }
}
