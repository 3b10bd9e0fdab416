import { CfnCondition, CfnParameter, Fn, Lazy, RemovalPolicies, RemovalPolicy } from "aws-cdk-lib";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Dashboard as CloudWatchDashboard } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import type * as route53 from "aws-cdk-lib/aws-route53";
import type { Construct, IConstruct } from "constructs";
import { type WebhookKind, webhookKinds } from "../domain/event/events.ts";
import { messageSource } from "../domain/message/message-types.ts";
import { Eraser } from "./erasure/eraser.ts";
import { Erasure } from "./erasure/erasure.ts";
import { deploymentProblems } from "./function/deployment-limits.ts";
import { type CodeOf, type FunctionDefaults, PipelineFunction } from "./function/pipeline-function.ts";
import { instanceOf, pipelineName } from "./instance.ts";
import { pascalCase } from "./names.ts";
import { AlarmTopic } from "./observability/alarm-topic.ts";
import { Dashboard } from "./observability/dashboard.ts";
import { ThrottleAlarms } from "./observability/throttle-alarms.ts";
import { addOutputs } from "./outputs.ts";
import { Protection } from "./protection/protection.ts";
import { Fetching } from "./provider/fetching.ts";
import { Reconciliation } from "./provider/reconciliation.ts";
import { TokenRefresh } from "./provider/token-refresh.ts";
import { WebhookRegistration } from "./provider/webhook-registration.ts";
import { Readiness } from "./readiness/readiness.ts";
import { ReadApi } from "./reading/read-api.ts";
import { OtherPaths } from "./receiving/other-paths.ts";
import { ReceivingAlarms } from "./receiving/receiving-alarms.ts";
import { WebhookEndpoint } from "./receiving/webhook-endpoint.ts";
import { WebhooksDomain } from "./receiving/webhooks-domain.ts";
import { WebhooksStage } from "./receiving/webhooks-stage.ts";
import type { WorkQueue } from "./receiving/work-queue.ts";
import { workQueuesByName } from "./receiving/work-queues.ts";
import { Relay } from "./relay/relay.ts";
import { Subscribers } from "./relay/subscribers.ts";
import {
  baseUrlForm,
  baseUrlPattern,
  longestBaseUrl,
  publicBaseUrlPattern,
} from "./settings/provider-schema.ts";
import type { Settings } from "./settings/settings.ts";
import { selectedBaseUrl } from "./settings/settings-schema.ts";
import { DeadLetterArchive } from "./storage/dead-letter-archive.ts";
import { dataKeyOf } from "./storage/encryption.ts";
import { EventTable } from "./storage/event-table.ts";
import { OverflowStorage } from "./storage/overflow-storage.ts";
import { TokenSecret, WebhookSecret } from "./storage/secrets.ts";

/** What a production stage keeps when the stack, or the resource in it, is removed. */
const typesThatHoldData = [
  "AWS::DynamoDB::Table",
  "AWS::SQS::Queue",
  // Also for what it denies: without it, a queue that stays would take requests over plain HTTP.
  "AWS::SQS::QueuePolicy",
  "AWS::S3::Bucket",
  "AWS::S3::BucketPolicy",
  "AWS::SecretsManager::Secret",
  "AWS::Logs::LogGroup",
];

/** What a pipeline is built of. */
export type PipelineProps = {
  readonly stage: string;
  readonly settings: Settings;
  /** Gets the record of the webhooks' name; undefined: none is made. */
  readonly hostedZone: route53.IHostedZone | undefined;
  /** The settings as they were written, with what was added. */
  readonly written: () => Settings;
  readonly codeOf: CodeOf;
};

/** The whole pipeline of one stage below a construct, wired in the order of the data's way. */
export class Pipeline {
  readonly receiving: ReadonlyMap<WebhookKind, WebhookEndpoint>;
  readonly subscribers: Subscribers;
  readonly topic: AlarmTopic;
  readonly webhooksUrl: string;
  readonly table: Table;
  readonly api: apigateway.HttpApi;
  readonly domainName: apigateway.DomainName | undefined;
  readonly dashboard: CloudWatchDashboard | undefined;
  readonly #scope: Construct;
  readonly #props: PipelineProps;
  readonly #parts: FirstParts;
  #second: SecondParts | undefined;

  /** Builds what does not depend on who subscribes. `complete` builds the rest, once nobody is added any more. */
  constructor(scope: Construct, props: PipelineProps) {
    this.#scope = scope;
    this.#props = props;
    const parts = buildFirst(scope, props);
    this.#parts = parts;
    this.receiving = parts.receiving;
    this.subscribers = parts.subscribers;
    this.topic = parts.topic;
    this.webhooksUrl = parts.webhooksUrl;
    this.table = parts.table.table;
    this.api = parts.api;
    this.domainName = parts.domain?.domainName;
    this.dashboard = parts.dashboard?.dashboard;
  }

  /** Of those that handle subscribers' reads; known once the pipeline is complete. */
  get readApi(): ReadApi {
    return this.complete().readApi;
  }

  /** By their names in log lines, such as `store/users`; complete once the pipeline is. */
  get functions(): ReadonlyMap<string, lambda.IFunction> {
    this.complete();
    const functions = this.#scope.node.findAll().filter((each) => each instanceof PipelineFunction);
    return new Map(functions.map(({ entryName, lambda: made }) => [entryName, made]));
  }

  /** Queues with dead letters, of subscribers too. */
  get works(): readonly WorkQueue[] {
    return [...workQueuesByName(this.#parts).values(), this.#parts.erasure.work];
  }

  complete(): SecondParts {
    this.#second ??= buildSecond(this.#scope, this.#props, this.#parts);
    return this.#second;
  }
}

type FirstParts = ReturnType<typeof buildFirst>;
type SecondParts = ReturnType<typeof buildSecond>;

/** What stands whoever subscribes. */
function buildFirst(scope: Construct, { stage, settings, hostedZone, codeOf }: PipelineProps) {
  const defaults: FunctionDefaults = {
    codeOf,
    logRetentionInDays: settings.retention.logsDays,
    logsInvocations: settings.logs.invocations,
    tracing: settings.tracing,
    dataKey: dataKeyOf(scope, settings),
    previousKeyArns: settings.encryption.previousKeyArns,
  };
  scope.node.addValidation({ validate: () => deploymentProblems(scope) });
  const providerBaseUrl = addProviderBaseUrl(scope, settings);
  const token = new TokenSecret(scope, "Token", settings);
  const secret = new WebhookSecret(scope, "Webhook", settings);
  const overflow = new OverflowStorage(scope, "Overflow", settings);
  const table = new EventTable(scope, "Events", settings);
  const api = new apigateway.HttpApi(scope, "Api", {
    apiName: pipelineName(scope),
    description: `Webhooks of income events (${stage})`,
    createDefaultStage: false,
    // Else whoever knows the address that AWS gives passes by the name's certificate check, and by what is before it.
    ...(settings.webhooks.customDomain && { disableExecuteApiEndpoint: true }),
  });
  const apiStage = new WebhooksStage(scope, "ApiStage", { api, settings });
  const { customDomain } = settings.webhooks;
  const domain =
    customDomain && new WebhooksDomain(scope, "Domain", { api, apiStage, hostedZone, ...customDomain });
  const webhooksUrl = `${domain?.origin ?? api.apiEndpoint}/webhooks`;
  // It feeds the receivers' queues, so it is made after them.
  const reconciler = {
    functionName: Lazy.string({ produce: () => reconciliation.lambda.functionName }),
    functionArn: Lazy.string({ produce: () => reconciliation.lambda.functionArn }),
  };
  const receiving = new Map(
    webhookKinds.map((kind) => {
      const props = { kind, settings, defaults, api, secret, overflow, table, reconciler };
      return [kind, new WebhookEndpoint(scope, pascalCase(kind), props)] as const;
    }),
  );
  const shared = { settings, defaults, api, secret, overflow, reconciler };
  const otherPaths = new OtherPaths(scope, "OtherPaths", { ...shared, receiving });
  const routes = [...receiving.values(), otherPaths].map(({ route }) => route);
  createInOrder([...routes, apiStage.stage]);
  const calling = { settings, defaults, providerBaseUrl, token, table };
  const refresh = new TokenRefresh(scope, "Refresh", calling);
  const watched = { settings, api, apiStage, receiving, otherPaths, refresh };
  const receipts = new ReceivingAlarms(scope, "Receiving", watched);
  const erasure = new Erasure(scope, "Erasure", settings);
  const fetching = new Fetching(scope, "Fetch", { ...calling, erasureKey: erasure.key, refresh, overflow });
  const { deadlineHours } = settings.readiness ?? {};
  const readiness =
    deadlineHours === undefined
      ? undefined
      : new Readiness(scope, "Readiness", { settings, defaults, table, deadlineHours });
  const reconciliation = new Reconciliation(scope, "Reconcile", {
    ...calling,
    ...{ receiving, fetching, api, apiStage, receipts },
  });
  const subscribers = new Subscribers(scope, "Subscriber", settings);
  const topic = new AlarmTopic(scope, "Alarms", settings);
  // What a failed deployment has just made is removed again, so that the next one finds nothing in its way.
  const policy = settings.production ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
  RemovalPolicies.of(scope).apply(policy, { applyToResourceTypes: typesThatHoldData });
  const incoming = { api, apiStage, domain, webhooksUrl, receiving, receipts, secret };
  const dashboard = settings.dashboard ? new Dashboard(scope, "Dashboard") : undefined;
  const kept = { overflow, topic, dashboard };
  return {
    ...calling,
    ...incoming,
    ...kept,
    refresh,
    erasure,
    fetching,
    readiness,
    reconciliation,
    subscribers,
  };
}

/** What knows all subscribers, or all queues. */
function buildSecond(scope: Construct, { stage, written, ...props }: PipelineProps, parts: FirstParts) {
  const settings = { ...props.settings, subscribers: parts.subscribers.settings };
  const { defaults, receiving, table, overflow, erasure, fetching, readiness, subscribers, topic } = parts;
  const { readers } = subscribers;
  const readApi = new ReadApi(scope, "Read", { settings, defaults, table, overflow, readers });
  // A path, not a host: where it is deployed says nothing about who it is.
  const eventSource = messageSource(stage);
  const sending = { settings, defaults, eventSource, table, subscribers, erasure };
  const relay = new Relay(scope, "Relay", { ...sending, fetching, readiness, readApi, overflow });
  const registration = settings.register.enabled
    ? new WebhookRegistration(scope, "Register", parts)
    : undefined;
  const works = workQueuesByName(parts);
  const archive = new DeadLetterArchive(scope, "Archive", {
    settings,
    defaults,
    works: new Map([...works, ["erase", erasure.work]]),
  });
  // Of its own dead letters none is swept: each is an erasure that is still to be done.
  new Eraser(scope, "Erase", { ...sending, overflow, relay, archive, works });
  const throttles = new ThrottleAlarms(scope, "Throttles", { receiving, relay, table });
  topic.addAlarmActions(scope);
  parts.dashboard?.show({ ...parts, relay, throttles });
  const made = { relay, readApi, registration, archive };
  addOutputs(scope, { ...parts, ...made, stage, settings, written: written() });
  if (settings.production) new Protection(scope, "Protection", { defaults, table });
  return { readApi };
}

/**
 * A parameter, so that one template runs against the provider, a stand-in or this machine's sandbox. A trap:
 * a deploy keeps a parameter's previous value, a changed default included; so the default says nothing, and
 * the settings' address stands in the template itself.
 */
function addProviderBaseUrl(scope: Construct, { provider }: Settings): string {
  const parameter = new CfnParameter(scope, "ProviderBaseUrl", {
    description: "Base address of the income-data service, where it is not the one of the stage's settings",
    default: "",
    allowedPattern: `^$|${provider.allowPrivateAddresses ? baseUrlPattern : publicBaseUrlPattern}`,
    maxLength: longestBaseUrl,
    constraintDescription: provider.allowPrivateAddresses
      ? `nothing, or ${baseUrlForm}`
      : `nothing, or ${baseUrlForm}, by a public name: a private address needs the setting provider.allowPrivateAddresses`,
  });
  // By this name whoever deploys gives it.
  parameter.overrideLogicalId(`${instanceOf(scope)}ProviderBaseUrl`);
  const given = parameter.valueAsString;
  const isGiven = new CfnCondition(scope, "ProviderBaseUrlIsGiven", {
    expression: Fn.conditionNot(Fn.conditionEquals(given, "")),
  });
  return Fn.conditionIf(isGiven.logicalId, given, selectedBaseUrl(provider)).toString();
}

/**
 * API Gateway refuses a change of an API while it still works on another ("ConflictException: Unable to complete operation
 * due to concurrent modification"), and a stage that deploys by itself is at work after each change.
 */
function createInOrder(parts: readonly IConstruct[]): void {
  parts.forEach((part, index) => {
    const before = parts[index - 1];
    if (before !== undefined) part.node.addDependency(before);
  });
}
