import { IncomeEventsStack } from "@income-events/cdk";
import { type App, CfnOutput, Duration, Validations } from "aws-cdk-lib";
import { AttributeType, BillingMode, Table } from "aws-cdk-lib/aws-dynamodb";
import { Runtime } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";

/** The pipeline's stack with a function that reads for billing. */
export function billingStack(app: App, stage: string): IncomeEventsStack {
  const file = `stages/${stage}.json`;
  const stack = IncomeEventsStack.fromSettingsFile(app, `income-events-${stage}`, { stage, file });
  // Its filter passes data and erasures only, and the role below reads documents but no states.
  const billing = stack.events.subscriber("billing");

  const incomes = new Table(stack, "Incomes", {
    partitionKey: { name: "account", type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  });
  const reader = new NodejsFunction(stack, "Billing", {
    entry: "subscriber.ts",
    runtime: Runtime.NODEJS_24_X,
    timeout: Duration.seconds(20),
    // Bundles the SDK: the runtime's own version is missing under npm start.
    bundling: { format: OutputFormat.ESM, mainFields: ["module", "main"], bundleAwsSDK: true },
    environment: { INCOMES: incomes.tableName },
  });
  incomes.grantWriteData(reader);
  billing.grantConsume(reader);
  billing.grantReadDocuments(reader);
  // Without the last option, one failed message would return the whole batch.
  reader.addEventSource(new SqsEventSource(billing.queue, { reportBatchItemFailures: true }));
  Validations.of(reader).acknowledge({
    id: "AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
    reason: "CDK gives a function AWS's policy for its logs, which is all that it holds.",
  });
  new CfnOutput(stack, "IncomesTableName", { value: incomes.tableName });
  return stack;
}
