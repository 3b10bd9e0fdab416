import { Aspects, Stack, Token } from "aws-cdk-lib";
import type { DomainName, HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type * as acm from "aws-cdk-lib/aws-certificatemanager";
import type { Dashboard, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type * as kms from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type * as route53 from "aws-cdk-lib/aws-route53";
import type * as sns from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { unsupportedPartition } from "../../domain/core/regions.ts";
import type { ReadingMode } from "../../domain/read/route.ts";
import type { CodeOf } from "../function/pipeline-function.ts";
import { prebuiltCode } from "../function/prebuilt-code.ts";
import { nameInstance } from "../instance.ts";
import { deadLetters, greatestOf, oldestMessage } from "../observability/alarm-metrics.ts";
import { eventsStored, sameMetric } from "../observability/log-metric.ts";
import { Pipeline } from "../pipeline.ts";
import { readingModeOf } from "../reading/read-api.ts";
import { readSettings, type Settings, SettingsError } from "../settings/settings.ts";
import { allowUseOfKey, checkStage, type OwnResources, parseWith, withOwn } from "./own-settings.ts";
import { plainSettings, principalsOfApp } from "./plain-settings.ts";
import type { SettingsProps, SubscriberProps } from "./props/settings.ts";
import { Subscriber } from "./subscriber.ts";

/** Options of a pipeline in addition to its settings. */
export interface PipelineOptions {
  /** Name in messages (`/income-events/<stage>`) and for commands: lower-case letters, digits and "-". */
  readonly stage: string;
  /**
   * Your own KMS key for data at rest, instead of `encryption.keyArn`. The required statements are added to its policy.
   * @default AWS's own keys, or `encryption.keyArn`
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * Your own SNS topic to notify of alarms, instead of `alarms.topicArn`. Its policy must allow CloudWatch to publish.
   * @default `alarms.topicArn`
   */
  readonly alarmTopic?: sns.ITopic;
  /**
   * Your own ACM certificate for the webhooks' domain name, instead of `webhooks.customDomain.certificateArn`.
   * @default `webhooks.customDomain.certificateArn`
   */
  readonly certificate?: acm.ICertificate;
  /**
   * Route 53 hosted zone in which to create the alias record of the webhooks' domain name. Not allowed with
   * `webhooks.customDomain.behindCloudFront`, because the name then leads to a distribution.
   * @default none: you create the record
   */
  readonly hostedZone?: route53.IHostedZone;
}

/** Name and settings of a stage's pipeline. */
export interface IncomeEventsProps extends PipelineOptions, SettingsProps {}

/** Name and settings file of a stage's pipeline. */
export interface SettingsFileProps extends PipelineOptions {
  /** Path of the settings file, relative to the working directory. */
  readonly file: string;
}

/** @internal Unchecked settings, where they are written, and the source of the functions' code. */
export type WrittenProps = PipelineOptions & {
  readonly written: unknown;
  /** Where the settings are written, for messages. */
  readonly where: string;
  readonly codeOf?: CodeOf;
};

/**
 * Turns an income-data service's webhooks into events on subscribers' queues, with the documents behind them. Each
 * event takes effect once, however often it is delivered. All resources are in the stack that contains the construct; a
 * stack can contain several pipelines.
 */
export class IncomeEvents extends Construct {
  /**
   * Creates a pipeline from a settings file, which has the same keys as the properties.
   * @throws SettingsError with the file, each invalid setting and its remedy
   */
  static fromSettingsFile(scope: Construct, id: string, props: SettingsFileProps): IncomeEvents {
    const { file, ...options } = props;
    return new IncomeEvents(scope, id, {
      ...options,
      written: readSettings(options.stage, file),
      where: file,
    });
  }

  /** Stores events, states and documents. Only the pipeline may write to it. */
  readonly table: TableV2;
  /** Receives the webhooks. */
  readonly api: HttpApi;
  /** Custom domain name of the API, if there is one. Its DNS record must point to `regionalDomainName`. */
  readonly domainName: DomainName | undefined;
  /** Base address of the webhooks, with one path below it for each kind. Known at deploy time. */
  readonly webhooksUrl: string;
  /** Dashboard of the data flow, to which you can add widgets; undefined unless the setting `dashboard` is true. */
  readonly dashboard: Dashboard | undefined;
  /** Topic that alarms notify; undefined if the settings name no topic and no email address. */
  readonly alarmTopic: sns.ITopic | undefined;
  /** Whether data is retained when the stack is deleted: the setting `production`. */
  readonly isProduction: boolean;
  readonly #pipeline: Pipeline;
  readonly #previousKeyArns: readonly string[];
  readonly #reading: ReadingMode;
  readonly #own: OwnResources;
  readonly #withOwn: (settings: Settings) => Settings;
  readonly #parse: (added: readonly SubscriberProps[]) => Settings;
  readonly #added: SubscriberProps[] = [];
  #isComplete = false;

  /** @throws SettingsError with each invalid setting and its remedy */
  constructor(scope: Construct, id: string, props: IncomeEventsProps);
  /** @internal */
  constructor(scope: Construct, id: string, props: IncomeEventsProps | WrittenProps);
  constructor(scope: Construct, id: string, props: IncomeEventsProps | WrittenProps) {
    super(scope, id);
    nameInstance(this);
    checkRegion(this);
    const { stage, encryptionKey, alarmTopic, certificate, hostedZone } = props;
    checkStage(stage, "name it");
    const own = { encryptionKey, alarmTopic, certificate };
    const { written, where, codeOf = prebuiltCode(this) } = writtenIn(props, this.node.path);
    this.#own = own;
    const plain = plainSettings(written, where);
    this.#parse = (added) => parseWith(own, withSubscribers(plain, plainSettings(added, where)), where);
    this.#withOwn = (settings) => withOwn(own, plain, settings);
    const settings = this.#withOwn(this.#parse([]));
    checkRegionOfKey(this, settings);
    checkHostedZone(hostedZone, settings, where);
    this.isProduction = settings.production;
    this.#previousKeyArns = settings.encryption.previousKeyArns;
    this.#reading = readingModeOf(this, settings);
    this.#pipeline = new Pipeline(this, {
      stage,
      settings,
      hostedZone,
      written: () => this.#parse(this.#added),
      codeOf,
    });
    this.table = this.#pipeline.table;
    this.api = this.#pipeline.api;
    this.domainName = this.#pipeline.domainName;
    this.dashboard = this.#pipeline.dashboard;
    this.webhooksUrl = this.#pipeline.webhooksUrl;
    this.alarmTopic = this.#pipeline.topic.topic;
    const { subscribers }: { readonly subscribers?: unknown } = Object(written);
    if (Array.isArray(subscribers)) for (const each of subscribers) this.#grantAccess(each);
    Aspects.of(this).add({ visit: (node) => node === this && this.complete() });
  }

  /**
   * Adds a subscriber to those of the settings.
   * @throws SettingsError like the constructor; Error once the app is synthesized
   */
  addSubscriber(subscriber: SubscriberProps): Subscriber {
    if (this.#pipeline.isComplete)
      throw new Error(
        `${this.node.path}: add the subscriber ${subscriber.name} before the app is synthesized or resolves \`documentsUrl\` ` +
          "or the ARN of a function",
      );
    const added = this.#parse([...this.#added, subscriber]).subscribers.at(-1);
    this.#added.push(subscriber);
    if (added !== undefined) this.#pipeline.subscribers.add(added);
    this.#grantAccess(subscriber);
    return this.subscriber(subscriber.name);
  }

  /** Returns a subscriber of the settings, or one that was added. @throws for an unknown name */
  subscriber(name: string): Subscriber {
    const { queues, readers } = this.#pipeline.subscribers;
    const work = queues.get(name);
    if (work === undefined) {
      throw new Error(
        `${this.node.path} has no subscriber ${name}; it has: ${[...queues.keys()].join(", ") || "none"}`,
      );
    }
    return new Subscriber({
      scope: this,
      name,
      work,
      readers,
      readApi: () => this.#pipeline.readApi,
      reading: this.#reading,
      previousKeyArns: this.#previousKeyArns,
    });
  }

  /**
   * Functions of the pipeline by their names in log lines: `receive/users`, `store/users`, `relay/changes`,
   * `fetch/data`. Some depend on all subscribers and are built when the app is synthesized; they are references without a
   * `role` until then.
   */
  get functions(): ReadonlyMap<string, IFunction> {
    return this.#pipeline.functions;
  }

  /** Number of events that were stored, without duplicates. */
  metricEventsStored(): Metric {
    return eventsStored(this.#stores());
  }

  /** Number of received events that were already stored. */
  metricDuplicateEvents(): Metric {
    return sameMetric(this.#stores(), "EVENT_DUPLICATE", { field: "count", name: "DuplicateEvents" });
  }

  /** Number of dead letters in the queue of the pipeline that has the most. Subscribers have metrics of their own. */
  metricDeadLetters(): MathExpression {
    // An alarm combines at most ten metrics.
    return greatestOf(this.#pipeline.works.map(deadLetters));
  }

  /** Age in seconds of the oldest webhook that is not stored yet. */
  metricOldestEvent(): MathExpression {
    return greatestOf([...this.#pipeline.receiving.values()].map(({ work }) => oldestMessage(work)));
  }

  /** @internal Builds what depends on all subscribers, at synthesis at the latest. */
  complete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    allowUseOfKey(this, this.#own, this.#withOwn(this.#parse(this.#added)));
    this.#pipeline.complete();
  }

  /** Lets the roles and users of the app that a subscriber names as principals consume its queue and read. */
  #grantAccess(written: { readonly name: string }): void {
    for (const principal of principalsOfApp(written)) {
      checkAccount(this, principal);
      const subscriber = this.subscriber(written.name);
      subscriber.grantConsume(principal);
      if (this.#reading !== "none") subscriber.grantReadDocuments(principal);
    }
  }

  #stores() {
    return [...this.#pipeline.receiving.values()].map(({ store }) => store);
  }
}

/**
 * Checks that the region has what the pipeline needs.
 * @throws SettingsError if the region is known and lacks something
 */
function checkRegion(scope: Construct): void {
  const { region } = Stack.of(scope);
  const partition = Token.isUnresolved(region) ? undefined : unsupportedPartition(region);
  if (partition === undefined) return;
  throw new SettingsError(
    `${scope.node.path}: ${region} is in ${partition}; deploy the stack to a region of another partition`,
  );
}

/**
 * A grant is a policy of the role or user, which does not reach into another account.
 * @throws SettingsError for a role or user of the app in another account
 */
function checkAccount(scope: Construct, principal: Construct): void {
  const [own, its] = [Stack.of(scope).account, Stack.of(principal).account];
  if (own === its || Token.isUnresolved(own) || Token.isUnresolved(its)) return;
  throw new SettingsError(
    `${scope.node.path}: ${principal.node.path} is in the account ${its}, and its ARN is known at deploy time only; give it a ` +
      `name, and write its ARN as the principal, such as arn:aws:iam::${its}:role/NAME`,
  );
}

/**
 * A table takes a key for each of its regions, so the template must name the stack's.
 * @throws SettingsError for a key in a stack whose region is known only when it is deployed
 */
function checkRegionOfKey(scope: Construct, { encryption }: Settings): void {
  if (encryption.keyArn === undefined || !Token.isUnresolved(Stack.of(scope).region)) return;
  throw new SettingsError(
    `${scope.node.path}: a key of your own (encryption.keyArn or encryptionKey) needs a stack whose region is known, because ` +
      'DynamoDB takes a key for each region of a table; give the stack `env: { region: "eu-central-1" }`',
  );
}

function writtenIn(props: IncomeEventsProps | WrittenProps, path: string): Omit<WrittenProps, "stage"> {
  if ("written" in props) return props;
  const {
    stage: _stage,
    encryptionKey: _key,
    alarmTopic: _topic,
    certificate: _certificate,
    hostedZone: _zone,
    ...written
  } = props;
  return { written, where: `the properties of ${path}` };
}

function checkHostedZone(zone: route53.IHostedZone | undefined, { webhooks }: Settings, where: string): void {
  if (zone === undefined || webhooks.customDomain?.behindCloudFront === false) return;
  const why =
    webhooks.customDomain === undefined
      ? "has no name to lead to the API; set webhooks.customDomain.name, or leave it out"
      : "would lead the name past CloudFront; leave it out, or webhooks.customDomain.behindCloudFront";
  throw new SettingsError(`Settings in ${where}:\n  hostedZone: ${why}`);
}

function withSubscribers(written: unknown, added: unknown): unknown {
  if (!Array.isArray(added) || added.length === 0) return written;
  const { subscribers = [], ...rest } = Object(written);
  return { ...rest, subscribers: [...subscribers, ...added] };
}
