import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";
import { loggedNameIndex } from "../../domain/event/subjects.ts";
import type { Settings } from "../settings/settings.ts";
import { dataKeyOf } from "./encryption.ts";

/** The table of events, states, data, links, claims and the pacing of calls. Its stream is the outbox. */
export class EventTable extends Construct {
  readonly table: dynamodb.TableV2;
  readonly streamArn: string;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const encryptionKey = dataKeyOf(this, settings);
    const { maxWriteRequestUnits } = settings.table;
    // A global table with one replica, so that another region can be added without replacing the table.
    this.table = new dynamodb.TableV2(this, "Table", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billing: dynamodb.Billing.onDemand({
        ...(maxWriteRequestUnits !== undefined && { maxWriteRequestUnits }),
      }),
      dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: "expiresAt",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      ...(encryptionKey && { encryption: dynamodb.TableEncryptionV2.customerManagedKey(encryptionKey) }),
    });
    this.table.addGlobalSecondaryIndex({
      indexName: loggedNameIndex.name,
      partitionKey: { name: loggedNameIndex.attribute, type: dynamodb.AttributeType.STRING },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined)
      throw new Error("The event table has no stream; set its stream view type");
    this.streamArn = tableStreamArn;
  }
}
