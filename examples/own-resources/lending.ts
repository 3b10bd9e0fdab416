import { IncomeEvents } from "@income-events/cdk";
import { Stack, type StackProps, Tags } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

/** The stack of an app that has more than the pipeline: here its key and the topic of whoever is on call. */
export class Lending extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { readonly stage: string }) {
    super(scope, id, props);
    const encryptionKey = new Key(this, "Key", { enableKeyRotation: true });
    const alarmTopic = new Topic(this, "OnCall", { enforceSSL: true });
    // With a policy of its own a topic lets nobody publish whom it doesn't name.
    alarmTopic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
    const file = `stages/${stage}.json`;
    IncomeEvents.fromSettingsFile(this, "Events", { stage, file, encryptionKey, alarmTopic });
    Tags.of(this).add("team", "lending");
  }
}
