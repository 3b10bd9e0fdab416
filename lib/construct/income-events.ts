import { Aspects, Stack, Token } from "aws-cdk-lib";
import type { DomainName, HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import type * as acm from "aws-cdk-lib/aws-certificatemanager";
import type { Dashboard, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type * as kms from "aws-cdk-lib/aws-kms";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type * as route53 from "aws-cdk-lib/aws-route53";
import type * as sns from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import type { ReadingMode } from "../../domain/read/reading-mode.ts";
import type { CodeOf } from "../function/pipeline-function.ts";
import { prebuiltCode } from "../function/prebuilt-code.ts";
import { nameInstance } from "../instance.ts";
import { deadLetters, greatestOf, oldestMessage } from "../observability/alarm-metrics.ts";
import { sameMetric } from "../observability/log-metric.ts";
import { Pipeline } from "../pipeline.ts";
import { readingModeOf } from "../reading/read-api.ts";
import { readSettings, type Settings, SettingsError } from "../settings/settings.ts";
import { allowUseOfKey, checkStage, type OwnResources, parseWith, withOwn } from "./own-settings.ts";
import { plainSettings } from "./plain-settings.ts";
import type { SettingsProps, SubscriberProps } from "./props/settings.ts";
import { Subscriber } from "./subscriber.ts";

/** What a pipeline has beside its settings. */
export interface PipelineOptions {
  /** Names the pipeline in its messages (`/income-events/<stage>`) and to its commands: lower-case letters, digits and "-". */
  readonly stage: string;
  /**
   * A key of the app's own for data at rest, in the place of `encryption.keyArn`. What the key's policy needs is added to it.
   * @default keys of AWS's own, or that of the settings
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * A topic of the app's own that is notified of alarms, in the place of `alarms.topicArn`. Its policy lets CloudWatch publish.
   * @default that of the settings
   */
  readonly alarmTopic?: sns.ITopic;
  /**
   * A certificate of the app's own for the webhooks' name, in the place of `webhooks.customDomain.certificateArn`.
   * @default that of the settings
   */
  readonly certificate?: acm.ICertificate;
  /**
   * A hosted zone of Route 53, in which the webhooks' name gets an alias record to the API. Not beside
   * `webhooks.customDomain.behindCloudFront`, where the name leads to a distribution.
   * @default none: the record is the operator's to make
   */
  readonly hostedZone?: route53.IHostedZone;
}

/** The pipeline of one stage: its name and settings. */
export interface IncomeEventsProps extends PipelineOptions, SettingsProps {}

/** The pipeline of one stage, whose settings are in a file. */
export interface SettingsFileProps extends PipelineOptions {
  /** A settings file, relative to the working directory. */
  readonly file: string;
}

/** @internal Settings as they are written somewhere, which are still to be checked, and where the functions' code comes from. */
export type WrittenProps = PipelineOptions & {
  readonly written: unknown;
  /** Where they are written, for messages. */
  readonly where: string;
  readonly codeOf?: CodeOf;
};

/**
 * Turns an income-data service's webhooks into events on subscribers' queues, each once in effect, with the documents behind
 * them. All its resources are in the stack that it stands in; a stack can have several.
 */
export class IncomeEvents extends Construct {
  /**
   * The pipeline of a settings file, whose keys are those of the properties.
   * @throws SettingsError naming the file, each setting in error and its remedy
   */
  static fromSettingsFile(scope: Construct, id: string, props: SettingsFileProps): IncomeEvents {
    const { file, ...options } = props;
    return new IncomeEvents(scope, id, {
      ...options,
      written: readSettings(options.stage, file),
      where: file,
    });
  }

  /** Holds events, states and documents. Only the pipeline writes to it. */
  readonly table: Table;
  /** Receives the webhooks. */
  readonly api: HttpApi;
  /** The name of the API's own; undefined: the settings name none. A DNS record leads from it to `regionalDomainName`. */
  readonly domainName: DomainName | undefined;
  /** Webhooks are sent below this address, one path for each kind. Known at deploy time. */
  readonly webhooksUrl: string;
  /** The dashboard of the data flow, to which widgets can be added; undefined: the settings want none. */
  readonly dashboard: Dashboard | undefined;
  /** Where alarms go; undefined: the settings name nobody. */
  readonly alarmTopic: sns.ITopic | undefined;
  /** Whether its data outlives mistakes: the setting `production`. */
  readonly isProduction: boolean;
  readonly #pipeline: Pipeline;
  readonly #previousKeyArns: readonly string[];
  readonly #reading: ReadingMode;
  readonly #own: OwnResources;
  readonly #withOwn: (settings: Settings) => Settings;
  readonly #parse: (added: readonly SubscriberProps[]) => Settings;
  readonly #added: SubscriberProps[] = [];
  #isComplete = false;

  /** @throws SettingsError naming each setting in error and its remedy */
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
    Aspects.of(this).add({ visit: (node) => node === this && this.complete() });
  }

  /**
   * Adds a subscriber to those of the settings.
   * @throws SettingsError as the constructor; an error once the app is synthesized
   */
  addSubscriber(subscriber: SubscriberProps): Subscriber {
    if (this.#isComplete)
      throw new Error(
        `${this.node.path}: add the subscriber ${subscriber.name} before \`functions\` is read, and before the app is synthesized`,
      );
    const added = this.#parse([...this.#added, subscriber]).subscribers.at(-1);
    this.#added.push(subscriber);
    if (added !== undefined) this.#pipeline.subscribers.add(added);
    return this.subscriber(subscriber.name);
  }

  /** A subscriber of the settings, or one that was added. @throws naming those that there are */
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
   * The pipeline's functions, by their names in log lines: `receive/users`, `store/users`, `relay/changes`, `fetch/data`. Add all
   * subscribers first.
   */
  get functions(): ReadonlyMap<string, IFunction> {
    this.complete();
    return this.#pipeline.functions;
  }

  /** Events that were stored: first receipts. */
  metricEventsStored(): Metric {
    return sameMetric(this.#stores(), "EVENT_STORED", { field: "count", name: "EventsStored" });
  }

  /** Receipts of events that were stored before. */
  metricDuplicateEvents(): Metric {
    return sameMetric(this.#stores(), "EVENT_DUPLICATE", { field: "count", name: "DuplicateEvents" });
  }

  /** Dead letters that wait, in the queue that has most of them. */
  metricDeadLetters(): MathExpression {
    return greatestOf(this.#pipeline.works.map(deadLetters));
  }

  /** The age of the oldest webhook that is not stored, in seconds. */
  metricOldestEvent(): MathExpression {
    return greatestOf([...this.#pipeline.receiving.values()].map(({ work }) => oldestMessage(work)));
  }

  /** @internal Builds what knows all subscribers: at synthesis, if not before. */
  complete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    allowUseOfKey(this, this.#own, this.#withOwn(this.#parse(this.#added)));
    this.#pipeline.complete();
  }

  #stores() {
    return [...this.#pipeline.receiving.values()].map(({ store }) => store);
  }
}

/**
 * Source: Getting Started with Amazon Web Services in China, "Amazon Lambda", differences of features.
 * @throws SettingsError where the stack's region is known and lacks what the pipeline is built of
 */
function checkRegion(scope: Construct): void {
  const { region } = Stack.of(scope);
  if (Token.isUnresolved(region) || !region.startsWith("cn-")) return;
  throw new SettingsError(
    `${scope.node.path}: ${region} is in China, where Lambda has no function URLs, no metrics of event sources and no bucket ` +
      "for a stream's failures, and X-Ray is missing; deploy the stack to a region of another partition",
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
