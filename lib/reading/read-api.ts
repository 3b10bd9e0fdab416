import { Duration, Lazy, Stack, Token } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import { unreadDocuments } from "../../domain/message/document-reference.ts";
import { type ReadingMode, readingModeIn } from "../../domain/read/route.ts";
import { allow } from "../function/permissions.ts";
import { type FunctionDefaults, PipelineFunction } from "../function/pipeline-function.ts";
import { pascalCase } from "../names.ts";
import { Alarm } from "../observability/alarm.ts";
import { logsSince } from "../observability/alarm-metrics.ts";
import { metricOfLog } from "../observability/log-metric.ts";
import { accountsOf } from "../settings/principals.ts";
import { type Settings, SettingsError } from "../settings/settings.ts";
import type { EventTable } from "../storage/event-table.ts";
import type { OverflowStorage } from "../storage/overflow-storage.ts";

export type ReadApiProps = {
  readonly settings: Settings;
  readonly defaults: FunctionDefaults;
  readonly table: EventTable;
  readonly overflow: OverflowStorage;
  /** ARNs that a grant lets read, by subscriber name; grants may be added later. */
  readonly readers: ReadonlyMap<string, readonly string[]>;
};

/** A reader with a bug tries again and again; a person who experiments tries a few times. */
const manyInFiveMinutes = 20;

/** Readers retry after an error, so fewer do no harm. */
const fewInQuarterHour = 3;

/** The policy of an alias is limited to 20 KB, and a permission takes up to 530 bytes. */
const mostPrincipals = 38;

/** Reading mode that the stage's settings and its region select. */
export function readingModeOf(scope: Construct, { reading }: Settings): ReadingMode {
  const { region } = Stack.of(scope);
  return readingModeIn(Token.isUnresolved(region) ? undefined : region, reading);
}

/**
 * Function from which subscribers read states and documents. A function URL identifies its callers by their signatures,
 * also those of other accounts, which API Gateway's IAM authorizer can't. Without a URL, each subscriber has an alias
 * of the function, and policies decide who may invoke it.
 */
export class ReadApi extends Construct {
  /** Undefined if documents are only in messages. */
  readonly lambda: lambda.Function | undefined;
  /** With a trailing slash: a URL, the function's ARN, or a placeholder if documents are only in messages. */
  readonly url: string;
  readonly mode: ReadingMode;

  constructor(scope: Construct, id: string, props: ReadApiProps) {
    super(scope, id);
    const { settings, readers } = props;
    const { subscribers } = settings;
    this.mode = readingModeOf(this, settings);
    if (this.mode === "none") {
      this.url = unreadDocuments;
      return;
    }
    const granted = Lazy.uncachedString({
      produce: ({ scope: stack }) =>
        readers.size === 0 ? undefined : Stack.of(stack).toJsonString(Object.fromEntries(readers)),
    });
    const isByUrl = this.mode === "url";
    const read = this.#addFunction(
      props,
      isByUrl ? "functions/read/documents.ts" : "functions/read/invoked.ts",
      isByUrl ? { GRANTED_READERS: granted } : {},
    );
    this.lambda = read.lambda;
    if (isByUrl) {
      this.url = this.lambda.addFunctionUrl({
        authType: lambda.FunctionUrlAuthType.AWS_IAM,
        invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
      }).url;
      const accounts = accountsOf(subscribers.flatMap(({ principals }) => principals));
      for (const [index, account] of accounts.entries()) this.#admit(read.lambda, account, index);
    } else {
      this.url = `${this.lambda.functionArn}/`;
      for (const subscriber of subscribers) this.#addAlias(read.lambda, subscriber);
    }
    this.#addAlarms(read);
  }

  /**
   * @returns ARN of the alias that a subscriber invokes
   * @throws unless the reading mode is `invoke`
   */
  aliasArn(subscriber: string): string {
    if (this.mode !== "invoke" || this.lambda === undefined)
      throw new Error(`No alias: reading is ${this.mode}`);
    return `${this.lambda.functionArn}:${subscriber}`;
  }

  #addFunction(
    { settings, defaults, table, overflow }: ReadApiProps,
    entry: string,
    environment: Readonly<Record<string, string>>,
  ): PipelineFunction {
    return new PipelineFunction(this, "Documents", {
      ...defaults,
      entry,
      description: "Answers what subscribers read: states and documents",
      size: settings.functions.read,
      environment: {
        TABLE_NAME: table.table.tableName,
        OVERFLOW_BUCKET: overflow.bucket.bucketName,
        ...environment,
      },
      settings: {
        subscribers: settings.subscribers.map(({ name, types, principals }) => {
          return { name, principals, ...(types && { types }) };
        }),
        ...(settings.mapping.users.attributes && { hasAttributes: true }),
      },
      permissions: [readSubjects(table.table.tableArn), allow(["s3:GetObject"], [overflow.data])],
    });
  }

  /**
   * Adds both permissions that a function URL requires. They name whole accounts, because Lambda's permissions have no
   * condition on the caller's ARN. The function itself refuses the account's roles that no subscriber names.
   */
  #admit(read: lambda.Function, account: string, index: number): void {
    const common = { functionName: read.functionArn, principal: account };
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

  /** The alias tells the function who reads. Its own policy names exactly the subscriber's principals. */
  #addAlias(read: lambda.Function, { name, principals }: Settings["subscribers"][number]): void {
    if (principals.length > mostPrincipals)
      throw new SettingsError(
        `${this.node.path}: the subscriber ${name} has ${principals.length} principals, and the policy of its alias has ` +
          `room for ${mostPrincipals}; name accounts in the place of their roles`,
      );
    const alias = new lambda.CfnAlias(this, `Alias${pascalCase(name)}`, {
      functionName: read.functionName,
      // The code deployed last, as with a URL, so that no old version remains.
      functionVersion: "$LATEST",
      name,
    });
    for (const [index, principal] of principals.entries())
      new lambda.CfnPermission(this, `Invoke${pascalCase(name)}${index}`, {
        functionName: alias.ref,
        action: "lambda:InvokeFunction",
        principal: principal.endsWith(":root") ? principal.replace(/^.*:(\d{12}):root$/, "$1") : principal,
      });
  }

  #addAlarms(read: PipelineFunction): void {
    new Alarm(this, "Failing", {
      entry: "reads-failing",
      // A function behind a URL answers 5xx for errors that it catches, which `Errors` does not count.
      metric: read.lambda.metric(this.mode === "url" ? "Url5xxCount" : "Errors", { statistic: "Sum" }),
      impact:
        "Subscribers get errors when they read states and documents: their readers fail, and process messages late.",
      remedy: `See why: ${logsSince("1h")}`,
      period: Duration.minutes(15),
      threshold: fewInQuarterHour,
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Refused", {
      entry: "reads-refused",
      metric: metricOfLog(read, "READ_REFUSED"),
      impact:
        "A caller repeatedly asks for data that the filter of its subscriber excludes: it lacks data that it needs, or " +
        "somebody probes the API.",
      remedy: `See who asks for what: ${logsSince("1h")}`,
      period: Duration.minutes(5),
      threshold: manyInFiveMinutes,
      breaching: 1,
      outOf: 1,
    });
  }
}

/**
 * Allows reads of states, links, documents and their versions, but not of events, tombstones or internal items.
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
