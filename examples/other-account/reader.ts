import { CfnParameter, Stack, type StackProps } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

/** A stack in the other account: the role of a service that reads the queue and the documents. */
export class Reader extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    // Outputs of the pipeline: SubscriberRiskQueueArn and DocumentsFunctionArn.
    const queue = new CfnParameter(this, "QueueArn").valueAsString;
    const documents = new CfnParameter(this, "DocumentsFunctionArn").valueAsString;
    const role = new Role(this, "Service", { assumedBy: new ServicePrincipal("ecs-tasks.amazonaws.com") });
    // The pipeline grants access to this account, and each account to its own roles.
    role.addToPolicy(
      new PolicyStatement({
        actions: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"],
        resources: [queue],
      }),
    );
    role.addToPolicy(new PolicyStatement({ actions: ["lambda:InvokeFunctionUrl"], resources: [documents] }));
    // Only through its URL: a direct invocation could name another reader.
    role.addToPolicy(
      new PolicyStatement({
        actions: ["lambda:InvokeFunction"],
        resources: [documents],
        conditions: { Bool: { "lambda:InvokedViaFunctionUrl": "true" } },
      }),
    );
  }
}
