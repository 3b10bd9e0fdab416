import { Duration, Lazy, Stack } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { tailOf } from "../observability/alarm-metrics.ts";
import { metricOfLog } from "../observability/log-metric.ts";
import { accountsOf } from "../settings/principals.ts";
import type { Settings } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";

export type ReadApiProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly table: EventTable;
  readonly overflow: OverflowStorage;
  /** ARNs by the name of the subscriber that each was granted for; grants may follow. */
  readonly readers: ReadonlyMap<string, readonly string[]>;
};

/** A reader's bug asks again and again; a person who tries does so a few times. */
const manyInFiveMinutes = 20;

/** A reader that is answered with an error asks again; one error is a moment's. */
const fewInQuarterHour = 3;

/**
 * What subscribers read: states and documents, behind a function's URL that knows its callers by their signatures. A
 * gateway's IAM authorizer would not know those of other accounts.
 */
export class ReadApi extends Construct {
  readonly lambda: lambda.Function;
  /** With a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, props: ReadApiProps) {
    super(scope, id);
    const { settings, defaults, table, overflow, readers } = props;
    const { subscribers } = settings;
    const read = new PipelineFunction(this, "Documents", {
      ...defaults,
      entry: "functions/read/documents.ts",
      description: "Answers what subscribers read: states and documents",
      size: settings.functions.read,
      environment: {
        TABLE_NAME: table.table.tableName,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        GRANTED_READERS: Lazy.uncachedString({
          produce: ({ scope: stack }) =>
            readers.size === 0 ? undefined : Stack.of(stack).toJsonString(Object.fromEntries(readers)),
        }),
      },
      settings: {
        subscribers: subscribers.map(({ name, types, principals }) => {
          return { name, principals, ...(types && { types }) };
        }),
      },
      permissions: [readSubjects(table.table.tableArn), allow(["s3:GetObject"], [overflow.data])],
    });
    this.lambda = read.lambda;
    const { url } = this.lambda.addFunctionUrl({
      authType: lambda.FunctionUrlAuthType.AWS_IAM,
      invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
    });
    this.url = url;
    const accounts = accountsOf(subscribers.flatMap(({ principals }) => principals));
    for (const [index, account] of accounts.entries()) this.#admit(account, index);
    this.#addAlarms(read);
  }

  /**
   * Both permissions that a function's URL asks for. They name whole accounts, since Lambda's permissions have no condition
   * on the caller's ARN: the function itself refuses the account's roles that no subscriber names.
   */
  #admit(account: string, index: number): void {
    const common = { functionName: this.lambda.functionArn, principal: account };
    new lambda.CfnPermission(this, `Url${index}`, {
      ...common,
      action: "lambda:InvokeFunctionUrl",
      functionUrlAuthType: lambda.FunctionUrlAuthType.AWS_IAM,
    });
    new lambda.CfnPermission(this, `Invoke${index}`, {
      ...common,
      action: "lambda:InvokeFunction",
      invokedViaFunctionUrl: true,
    });
  }

  #addAlarms(read: PipelineFunction): void {
    new Alarm(this, "Failing", {
      entry: "reads-failing",
      // Of the URL: a function that catches its error answers 5xx, which is no error of the function.
      metric: read.lambda.metric("Url5xxCount", { statistic: "Sum" }),
      impact:
        "Subscribers that read states and documents get errors: their readers fail with these messages, and work on them late.",
      remedy: `To see why: ${tailOf(read, "1h")}`,
      period: Duration.minutes(15),
      threshold: fewInQuarterHour,
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Refused", {
      entry: "reads-refused",
      metric: metricOfLog(read, "READ_REFUSED"),
      impact:
        "A caller asks again and again for what its subscriber does not get: it works without data that it needs, or " +
        "somebody tries what may be had.",
      remedy: `To see who asks for what: ${tailOf(read, "1h")}`,
      period: Duration.minutes(5),
      threshold: manyInFiveMinutes,
      breaching: 1,
      outOf: 1,
    });
  }
}

/**
 * Reads of states, links, documents and their versions: no event, no tombstone, nothing of the pipeline's own.
 * Source: DynamoDB developer guide, "Using IAM policy conditions for fine-grained access control".
 */
function readSubjects(tableArn: string): iam.PolicyStatement {
  return new iam.PolicyStatement({
    actions: ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"],
    resources: [tableArn],
    conditions: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["USER#*", "ACCOUNT#*", "COMPANY#*"] },
      "ForAllValues:StringEquals": {
        "dynamodb:Attributes": ["pk", "sk", "schemaVersion", "state", "document", "expiresAt"],
      },
      StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
    },
  });
}
