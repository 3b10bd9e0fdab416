import { CfnCondition, CfnParameter, Fn, RemovalPolicies, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as apigateway from "aws-cdk-lib/aws-apigatewayv2";
import type { Construct, IConstruct } from "constructs";
import { webhookKinds } from "../domain/event/events.ts";
import { messageSource } from "../domain/message/message-types.ts";
import { acknowledge, acknowledgements } from "./acknowledgements.ts";
import { Eraser } from "./erasure/eraser.ts";
import { Erasure } from "./erasure/erasure.ts";
import { deploymentProblems } from "./function/deployment-limits.ts";
import type { FunctionDefaults } from "./function/pipeline-function.ts";
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
import { ReadApi } from "./reading/read-api.ts";
import { ReceivingAlarms } from "./receiving/receiving-alarms.ts";
import { WebhookEndpoint } from "./receiving/webhook-endpoint.ts";
import { WebhooksDomain } from "./receiving/webhooks-domain.ts";
import { WebhooksStage } from "./receiving/webhooks-stage.ts";
import { workQueuesByName } from "./receiving/work-queues.ts";
import { Relay } from "./relay/relay.ts";
import { Subscribers } from "./relay/subscribers.ts";
import { baseUrlForm, baseUrlPattern, longestBaseUrl } from "./settings/provider-schema.ts";
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
  "AWS::S3::Bucket",
  "AWS::S3::BucketPolicy",
  "AWS::SecretsManager::Secret",
  "AWS::Logs::LogGroup",
];

export type IncomeEventsStackProps = {
  readonly stage: string;
  readonly settings: Settings;
  readonly codeOf: FunctionDefaults["codeOf"];
};

/** The whole pipeline of one stage, wired in the order of the data's way. */
export class IncomeEventsStack extends Stack {
  constructor(scope: Construct, { stage, settings, codeOf }: IncomeEventsStackProps) {
    super(scope, `income-events-${stage}`, {
      description: `Income events (${stage}): from an income-data service's webhooks to subscribers' queues`,
      terminationProtection: settings.production,
      analyticsReporting: false,
    });
    for (const each of acknowledgements) acknowledge(this, each);
    const defaults: FunctionDefaults = {
      codeOf,
      logRetentionInDays: settings.retention.logsDays,
      logsInvocations: settings.logs.invocations,
      tracing: settings.tracing,
      dataKey: dataKeyOf(this, settings),
    };
    this.node.addValidation({ validate: () => deploymentProblems(this) });
    const providerBaseUrl = this.#addProviderBaseUrl(settings);
    const token = new TokenSecret(this, "Token", settings);
    const secret = new WebhookSecret(this, "Webhook", settings);
    const overflow = new OverflowStorage(this, "Overflow", settings);
    const table = new EventTable(this, "Events", settings);
    const api = new apigateway.HttpApi(this, "Api", {
      apiName: this.stackName,
      description: `Webhooks of income events (${stage})`,
      createDefaultStage: false,
    });
    const apiStage = new WebhooksStage(this, "ApiStage", { api, settings });
    const { customDomain } = settings.webhooks;
    const domain = customDomain && new WebhooksDomain(this, "Domain", { api, apiStage, ...customDomain });
    const webhooksUrl = `${domain?.origin ?? api.apiEndpoint}/webhooks`;
    const receiving = new Map(
      webhookKinds.map((kind) => {
        const props = { kind, settings, defaults, api, secret, overflow, table };
        return [kind, new WebhookEndpoint(this, pascalCase(kind), props)] as const;
      }),
    );
    createInOrder([...[...receiving.values()].map(({ route }) => route), apiStage.stage]);
    const calling = { settings, defaults, providerBaseUrl, token, table };
    const refresh = new TokenRefresh(this, "Refresh", calling);
    const receipts = new ReceivingAlarms(this, "Receiving", { settings, api, apiStage, receiving, refresh });
    const erasure = new Erasure(this, "Erasure", settings);
    const fetching = new Fetching(this, "Fetch", { ...calling, erasureKey: erasure.key, refresh, overflow });
    const subscribers = new Subscribers(this, "Subscriber", settings);
    const readApi = new ReadApi(this, "Read", { settings, defaults, table, overflow });
    // A path, not a host: where it is deployed says nothing about who it is.
    const eventSource = messageSource(stage);
    const sending = { settings, defaults, eventSource, table, subscribers, erasure };
    const relay = new Relay(this, "Relay", { ...sending, fetching, readApi, overflow });
    const registration = settings.register.enabled
      ? new WebhookRegistration(this, "Register", { ...calling, webhooksUrl, secret })
      : undefined;

    const reconciliation = new Reconciliation(this, "Reconcile", { ...calling, receiving, fetching });

    const works = workQueuesByName(receiving, fetching, subscribers);
    const archive = new DeadLetterArchive(this, "Archive", {
      settings,
      defaults,
      works: new Map([...works, ["erase", erasure.work]]),
    });
    // Of its own dead letters none is swept: each is an erasure that is still to be done.
    new Eraser(this, "Erase", { ...sending, overflow, relay, archive, works });

    const throttles = new ThrottleAlarms(this, "Throttles", { receiving, fetching, relay, table });
    const topic = new AlarmTopic(this, "Alarms", settings);
    topic.addAlarmActions(this);
    const shown = { api, apiStage, receiving, receipts, relay, fetching, refresh, subscribers, erasure };
    const dashboard =
      (settings.dashboard ?? settings.production)
        ? new Dashboard(this, "Dashboard", { ...shown, reconciliation, throttles })
        : undefined;

    addOutputs(this, {
      settings,
      webhooksUrl,
      domain,
      receiving,
      fetching,
      subscribers,
      table,
      token,
      secret,
      overflow,
      erasure,
      relay,
      readApi,
      refresh,
      registration,
      reconciliation,
      archive,
      topic,
      dashboard,
    });

    if (settings.production) new Protection(this, "Protection", { defaults, table });

    // What a failed deployment has just made is removed again, so that the next one finds nothing in its way.
    const policy = settings.production ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    RemovalPolicies.of(this).apply(policy, { applyToResourceTypes: typesThatHoldData });
  }

  /**
   * A parameter, so that one template runs against the provider, a stand-in or this machine's sandbox. A trap:
   * a deploy keeps a parameter's previous value, a changed default included; so the default says nothing, and
   * the settings' address stands in the template itself.
   */
  #addProviderBaseUrl({ provider }: Settings): string {
    const given = new CfnParameter(this, "ProviderBaseUrl", {
      description: "Base address of the income-data service, where it is not the one of the stage's settings",
      default: "",
      allowedPattern: `^$|${baseUrlPattern}`,
      maxLength: longestBaseUrl,
      constraintDescription: `nothing, or ${baseUrlForm}`,
    }).valueAsString;
    const isGiven = new CfnCondition(this, "ProviderBaseUrlIsGiven", {
      expression: Fn.conditionNot(Fn.conditionEquals(given, "")),
    });
    return Fn.conditionIf(isGiven.logicalId, given, selectedBaseUrl(provider)).toString();
  }
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
