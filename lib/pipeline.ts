import { CfnCondition, CfnParameter, Fn, Lazy, RemovalPolicies, RemovalPolicy } from "aws-cdk-lib";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Dashboard as CloudWatchDashboard } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type * as route53 from "aws-cdk-lib/aws-route53";
import { Construct, type IConstruct } from "constructs";
import { type WebhookKind, webhookKinds } from "../domain/event/events.ts";
import { messageSource } from "../domain/message/message-schemas.ts";
import { Canary } from "./canary/canary.ts";
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
import { Protection, protectingFunctions } from "./protection/protection.ts";
import { Fetching } from "./provider/fetching.ts";
import { Reconciliation } from "./provider/reconciliation.ts";
import { TokenRefresh } from "./provider/token-refresh.ts";
import { WebhookRegistration } from "./provider/webhook-registration.ts";
import { Readiness } from "./readiness/readiness.ts";
import { ReadApi, readingModeOf } from "./reading/read-api.ts";
import { OtherPaths } from "./receiving/other-paths.ts";
import { ReceivingAlarms } from "./receiving/receiving-alarms.ts";
import { WebhookEndpoint } from "./receiving/webhook-endpoint.ts";
import { WebhooksDomain } from "./receiving/webhooks-domain.ts";
import { WebhooksStage } from "./receiving/webhooks-stage.ts";
import type { WorkQueue } from "./receiving/work-queue.ts";
import { ownWorkQueues } from "./receiving/work-queues.ts";
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
import { Recovery } from "./storage/recovery.ts";
import { TokenSecret, WebhookSecret } from "./storage/secrets.ts";

/** Types of resources that a production stage retains when the stack, or the resource in it, is deleted. */
const typesThatHoldData = [
  "AWS::DynamoDB::GlobalTable",
  "AWS::SQS::Queue",
  // Retained for its denials: without it, a retained queue would accept plain HTTP.
  "AWS::SQS::QueuePolicy",
  "AWS::S3::Bucket",
  "AWS::S3::BucketPolicy",
  "AWS::Backup::BackupVault",
  "AWS::SecretsManager::Secret",
  "AWS::Logs::LogGroup",
];

export type PipelineProps = {
  readonly stage: string;
  readonly settings: Settings;
  /** Zone for the alias record of the webhooks' domain name; undefined: no record is created. */
  readonly hostedZone: route53.IHostedZone | undefined;
  /** The settings as written, with the added subscribers. */
  readonly written: () => Settings;
  readonly codeOf: CodeOf;
};

/** The pipeline of one stage below a construct, wired in the order of the data flow. */
export class Pipeline {
  readonly receiving: ReadonlyMap<WebhookKind, WebhookEndpoint>;
  readonly subscribers: Subscribers;
  readonly topic: AlarmTopic;
  readonly webhooksUrl: string;
  readonly table: TableV2;
  readonly api: apigateway.HttpApi;
  readonly domainName: apigateway.DomainName | undefined;
  readonly dashboard: CloudWatchDashboard | undefined;
  readonly #scope: Construct;
  readonly #props: PipelineProps;
  readonly #parts: FirstParts;
  #second: SecondParts | undefined;
  #handles: ReadonlyMap<string, lambda.IFunction> | undefined;

  /** Builds what does not depend on the subscribers. `complete` builds the rest, once all are added. */
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

  /** Answers subscribers' reads. Reading it completes the pipeline. */
  get readApi(): ReadApi {
    return this.complete().readApi;
  }

  /** Functions by their names in log lines, such as `store/users`. Those that are built last are references. */
  get functions(): ReadonlyMap<string, lambda.IFunction> {
    if (this.#second !== undefined) return this.#madeFunctions();
    this.#handles ??= this.#addHandles();
    return new Map([...this.#madeFunctions(), ...this.#handles]);
  }

  #madeFunctions(): ReadonlyMap<string, lambda.IFunction> {
    const functions = this.#scope.node.findAll().filter((each) => each instanceof PipelineFunction);
    return new Map(functions.map(({ nameInLogs, lambda: made }) => [nameInLogs, made]));
  }

  #addHandles(): ReadonlyMap<string, lambda.IFunction> {
    const handles = new Construct(this.#scope, "Functions");
    const arnOf = (name: string) => {
      this.complete();
      return this.#madeFunctions().get(name)?.functionArn;
    };
    const add = (name: string) =>
      lambda.Function.fromFunctionAttributes(handles, pascalCase(name.replace("/", "-")), {
        functionArn: Lazy.string({ produce: () => arnOf(name) }),
        // In the pipeline's account and region, so that permissions can be added.
        sameEnvironment: true,
      });
    return new Map(lastFunctions(this.#scope, this.#props.settings).map((name) => [name, add(name)]));
  }

  /** Queues with a dead-letter queue, except those of subscribers. */
  get works(): readonly WorkQueue[] {
    return [...ownWorkQueues(this.#parts).values(), this.#parts.erasure.work];
  }

  get isComplete(): boolean {
    return this.#second !== undefined;
  }

  complete(): SecondParts {
    this.#second ??= buildSecond(this.#scope, this.#props, this.#parts);
    return this.#second;
  }
}

type FirstParts = ReturnType<typeof buildFirst>;
type SecondParts = ReturnType<typeof buildSecond>;

/** Builds what does not depend on the subscribers. */
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
    // Otherwise the address that AWS assigns would bypass the domain's certificate check and web ACL.
    ...(settings.webhooks.customDomain && { disableExecuteApiEndpoint: true }),
  });
  const apiStage = new WebhooksStage(scope, "ApiStage", { api, settings });
  const { customDomain } = settings.webhooks;
  const domain =
    customDomain && new WebhooksDomain(scope, "Domain", { api, apiStage, hostedZone, ...customDomain });
  const webhooksUrl = `${domain?.origin ?? api.apiEndpoint}/webhooks`;
  // Created after the receivers, because it sends to their queues.
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
  const canary =
    settings.canary &&
    new Canary(scope, "Canary", { settings, canary: settings.canary, defaults, webhooksUrl, secret });
  const subscribers = new Subscribers(scope, "Subscriber", settings);
  const topic = new AlarmTopic(scope, "Alarms", settings);
  // A failed deployment still removes what it created, so that the next one does not conflict with it.
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
    canary,
    subscribers,
  };
}

/** Builds what depends on all subscribers or all queues. */
function buildSecond(scope: Construct, { stage, written, ...props }: PipelineProps, parts: FirstParts) {
  const settings = { ...props.settings, subscribers: parts.subscribers.settings };
  const { defaults, receiving, table, overflow, erasure, fetching, readiness, subscribers, topic } = parts;
  const { canary } = parts;
  const { readers } = subscribers;
  const readApi = new ReadApi(scope, "Read", { settings, defaults, table, overflow, readers });
  // A path, not a host: the source does not depend on where the stage is deployed.
  const eventSource = messageSource(stage);
  const sending = { settings, defaults, eventSource, table, subscribers, erasure };
  const stores = [...receiving.values()].map(({ store }) => store);
  const relay = new Relay(scope, "Relay", {
    ...sending,
    ...{ stores, fetching, readiness, canary, readApi, overflow },
  });
  const registration = settings.register.enabled
    ? new WebhookRegistration(scope, "Register", parts)
    : undefined;
  const works = ownWorkQueues(parts);
  const sent = [...subscribers.queues].map(([name, work]) => [`subscriber/${name}`, work] as const);
  const archive = new DeadLetterArchive(scope, "Archive", {
    settings,
    defaults,
    works: new Map([...works, ...sent, ["erase", erasure.work]]),
  });
  if (settings.recovery !== undefined) {
    const buckets = [overflow.bucket, erasure.log, relay.failures, archive.bucket];
    new Recovery(scope, "Recovery", { settings, recovery: settings.recovery, table, buckets });
  }
  // Erasures' own dead letters are not searched, because each is an erasure that is not done yet.
  new Eraser(scope, "Erase", { ...sending, overflow, relay, archive, works });
  const throttles = new ThrottleAlarms(scope, "Throttles", { receiving, relay, table });
  topic.addAlarmActions(scope);
  parts.dashboard?.show({ ...parts, relay, throttles });
  const made = { relay, readApi, registration, archive };
  addOutputs(scope, { ...parts, ...made, stage, settings, written: written() });
  if (settings.production) new Protection(scope, "Protection", { defaults, table });
  return { readApi };
}

/** Names of the functions that `buildSecond` makes. */
function lastFunctions(scope: Construct, settings: Settings): readonly string[] {
  const readBy = { url: ["read/documents"], invoke: ["read/invoked"], none: [] };
  return [
    ...readBy[readingModeOf(scope, settings)],
    "relay/changes",
    ...(settings.register.enabled ? ["register/webhooks"] : []),
    "archive/dead-letters",
    "erase/subjects",
    ...(settings.production ? protectingFunctions(scope) : []),
  ];
}

/**
 * A parameter, so that one template works with the provider, an emulator or the local sandbox. Trap: a deployment keeps
 * a parameter's previous value, even if the default changes. The default is therefore empty, and the address of the
 * settings is in the template itself.
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
  // Operators pass the parameter by this name.
  parameter.overrideLogicalId(`${instanceOf(scope)}ProviderBaseUrl`);
  const given = parameter.valueAsString;
  const isGiven = new CfnCondition(scope, "ProviderBaseUrlIsGiven", {
    expression: Fn.conditionNot(Fn.conditionEquals(given, "")),
  });
  return Fn.conditionIf(isGiven.logicalId, given, selectedBaseUrl(provider)).toString();
}

/**
 * Creates the parts one after the other. API Gateway refuses to change an API during another change
 * ("ConflictException: Unable to complete operation due to concurrent modification"), and a stage with automatic
 * deployment deploys after each change.
 */
function createInOrder(parts: readonly IConstruct[]): void {
  parts.forEach((part, index) => {
    const before = parts[index - 1];
    if (before !== undefined) part.node.addDependency(before);
  });
}
