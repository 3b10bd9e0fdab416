import { IncomeEvents } from "@income-events/cdk";
import { Stack, type StackProps, Tags } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

/** A stack with more than the pipeline: here its key and the on-call topic. */
export class Lending extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: string }) {
    super(scope, id, props);
    const encryptionKey = new Key(this, "Key", { enableKeyRotation: true });
    const alarmTopic = new Topic(this, "OnCall", { enforceSSL: true });
    // A topic with its own policy lets nobody publish whom it does not name.
    alarmTopic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
    const file = `stages/${stage}.json`;
    IncomeEvents.fromSettingsFile(this, "Events", { stage, file, encryptionKey, alarmTopic });
    Tags.of(this).add("team", "lending");
  }
}
