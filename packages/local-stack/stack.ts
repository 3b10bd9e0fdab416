import { createHash, randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { S3Client } from "@aws-sdk/client-s3";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { type AlarmState, type Alarms, startAlarms } from "./alarms/alarms.ts";
import { functionTotal, measureRequest, streamMetric } from "./alarms/measure.ts";
import { type AccessLogEntry, type Exchange, type HttpApi, startHttpApi } from "./api/http-api.ts";
import { createData } from "./assembly/create-data.ts";
import { executeApiOrigin } from "./assembly/identity.ts";
import type { FunctionPlan, StackPlan } from "./assembly/plan.ts";
import { planStack } from "./assembly/plan-stack.ts";
import { readAssembly, type SynthesizedStack } from "./assembly/read-assembly.ts";
import { localAccount } from "./engines/account.ts";
import { type DynamoDbEngine, type RunningDynamoDb, startDynamoDb } from "./engines/dynamodb.ts";
import { startQueuesAndObjects } from "./engines/queues-and-objects.ts";
import { createSecretsEngine } from "./engines/secrets.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { EventSourceMapping } from "./gateway/lambda-mappings.ts";
import type { Denial, Gateway } from "./gateway/types.ts";
import { createAsynchronousInvoker } from "./lambda/asynchronous.ts";
import { type Delay, realDelay } from "./lambda/delay.ts";
import { type Credentials, functionEnvironment } from "./lambda/environment.ts";
import { createFunctionLog, type FunctionLog } from "./lambda/function-log.ts";
import {
  type Codes,
  type FunctionCounts,
  type HostedFunction,
  hostFunction,
  type Outcome,
} from "./lambda/hosted-function.ts";
import type { Held } from "./lambda/protocol.ts";
import { type Schedules, startSchedules } from "./schedules/schedules.ts";
import { type DrainOptions, waitUntilDrained } from "./sources/drained.ts";
import { type QueueSource, startQueueSource } from "./sources/queue-source.ts";
import { type StreamSource, startStreamSource } from "./sources/stream-source.ts";

export type StackOptions = {
  /** A cloud assembly directory. */
  readonly assembly: string;
  /** Needed where the assembly holds several stacks. */
  readonly stackName?: string;
  /** Values for the template's parameters; they win over defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly engine?: DynamoDbEngine;
  /** 0 or absent: any free port. */
  readonly apiPort?: number;
  readonly gatewayPort?: number;
  /** Where each function's log is written to a file; absent: kept in memory only. */
  readonly logsDir?: string;
  readonly onProgress?: (text: string) => void;
  /** Is told of each request to the HTTP API and its answer. */
  readonly onAnswered?: (exchange: Exchange) => void;
  /** Is told when an alarm goes off, and when it is over. */
  readonly onAlarm?: (alarm: AlarmState) => void;
  /**
   * Processes for each function without reserved concurrency, 4 unless told. Further invocations wait, where
   * Lambda would start more.
   */
  readonly maximumProcesses?: number;
  /** How long tables' streams keep a record, 24 hours unless told: a stage that divides its waits divides this too. */
  readonly streamRetentionSeconds?: number;
  /** Counts the capacity units of the table's calls; see `gateway.capacity()`. */
  readonly countsCapacity?: boolean;
  /** Waits between retries and until schedules are due. Tests pass one that does not wait. */
  readonly delay?: Delay;
};

export type LocalQueue = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly url: string;
};

export type LocalFunction = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly memoryMb: number;
  /** Invokes synchronously with JSON text. */
  invoke(payload: string): Promise<Outcome>;
  /** Serves with other code from now on, see `functionsOf`; several take turns. What runs ends as it began. */
  serve(plans: Codes): void;
  /** What each of its warm processes that is idle holds, after all garbage is collected. */
  weigh(): Promise<readonly Held[]>;
  /** Kills (SIGKILL) the processes that work at this moment; answers how many. */
  killWorking(): number;
  /** Kills (SIGKILL) all its processes, so that it starts cold; answers how many. */
  kill(): number;
  counts(): FunctionCounts;
  /** The latest lines of its log. */
  log(): readonly string[];
  /** How much it has logged so far. */
  logBytes(): number;
};

export type StackProblems = {
  /** What policies refused, log groups included. */
  readonly denials: readonly Denial[];
  /** Functions whose handler can't be imported, with the reason. */
  readonly initErrors: readonly string[];
  /** What kept event sources, failure destinations or log files from working. */
  readonly failures: readonly string[];
};

export type LocalStack = {
  readonly name: string;
  readonly region: string;
  readonly account: string;
  /** Undefined where the stack has no HTTP API. */
  readonly apiUrl: string | undefined;
  readonly gatewayUrl: string;
  /** For people: which engine keeps the tables. */
  readonly engine: string;
  /** Credentials that may do everything, at the gateway. */
  readonly operator: Credentials;
  readonly outputs: Readonly<Record<string, string>>;
  readonly queues: ReadonlyMap<string, LocalQueue>;
  readonly tables: StackPlan["tables"];
  readonly buckets: StackPlan["buckets"];
  readonly secrets: readonly { readonly logicalId: string; readonly name: string; readonly arn: string }[];
  readonly functions: readonly LocalFunction[];
  /** For people: what the template holds and this machine does not run. */
  readonly notRun: readonly string[];
  readonly gateway: Gateway;
  readonly schedules: Schedules;
  /** The template's alarms as they are at this moment. */
  alarms(): readonly AlarmState[];
  readonly alarmPlans: StackPlan["alarms"];
  /** Measures first what CloudWatch measures each minute by looking: the ages and depths of queues. */
  lookAtAlarms: Alarms["look"];
  /** What an alarm is judged by. */
  alarmValues: Alarms["values"];
  accessLog(): readonly AccessLogEntry[];
  /** How many requests of the HTTP API got which status. */
  statusCounts(): ReadonlyMap<number, number>;
  problems(): StackProblems;
  /**
   * Resolves when every queue that feeds a function is empty (in flight and delayed messages included), streams
   * are read to their end, and no function is at work.
   * @throws Error at the deadline, naming what is left
   */
  drained(options: DrainOptions): Promise<void>;
  /**
   * The functions of another assembly of this stack, with the resources that this one has: what they would be after an
   * update or a rollback.
   */
  functionsOf(assembly: string): readonly FunctionPlan[];
  /** Sets a secret's value (SecretString) by its name or ARN. */
  setSecret(nameOrArn: string, value: string): Promise<void>;
  close(): Promise<void>;
};

const defaultRegion = "eu-central-1";
const operatorName = "operator";

/**
 * Starts a synthesized stack on this machine: engines, gateway, functions, event sources, HTTP API, schedules.
 * @throws UnrunnableAssemblyError listing everything that can't be run; Error where an engine or a port can't be
 * had. What was started until then is closed.
 */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  const cleanup = new AsyncDisposableStack();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.disposeAsync();
    throw error;
  }
}

async function start(options: StackOptions, cleanup: AsyncDisposableStack): Promise<LocalStack> {
  const progress = options.onProgress ?? (() => {});
  const delay = options.delay ?? realDelay;
  const failures: string[] = [];
  const onProblem = (message: string): void => {
    failures.push(message);
  };

  const synthesized = readAssembly(options.assembly, options.stackName);
  const region = synthesized.region ?? defaultRegion;
  const place = { region, account: localAccount, parameters: options.parameters ?? {} };
  const foreseen = planStack(synthesized, place);
  progress(`Planned the stack ${foreseen.name}: ${foreseen.functions.length} functions`);

  const queuesAndObjects = cleanup.adopt(await startQueuesAndObjects({ region }), ({ close }) => close());
  const tables = cleanup.adopt(await startTables(foreseen, options.engine), ({ close }) => close());
  progress(`Tables: ${tables.name}`);
  const secrets = createSecretsEngine({ region, account: localAccount });
  const invoker = createAsynchronousInvoker(delay);
  cleanup.adopt(invoker, ({ close }) => close());
  const functions = new Map<string, HostedFunction>();
  // Both come after the gateway, and are read through it.
  let alarmsOf: Alarms | undefined;
  let mappings: () => readonly EventSourceMapping[] = () => [];
  const gateway = await startGateway({
    port: options.gatewayPort ?? 0,
    region,
    account: localAccount,
    dynamodbUrl: tables.url,
    sqsUrl: queuesAndObjects.sqsUrl,
    s3Url: queuesAndObjects.s3Url,
    secrets,
    countsCapacity: options.countsCapacity ?? false,
    lambda: { functions, invoker, mappings: () => mappings() },
    alarms: () => alarmsOf?.look() ?? [],
    onThrottled: ({ tableName, metric: name }) => {
      alarmsOf?.record({ namespace: "AWS/DynamoDB", name, dimensions: { TableName: tableName } }, 1);
    },
  });
  cleanup.adopt(gateway, ({ close }) => close());
  const operator = newCredentials(operatorName);
  const arn = `arn:aws:iam::${localAccount}:user/${operatorName}`;
  gateway.register({ name: operatorName, arn, ...operator, policies: "all" });
  const operatorClients = clientsFor(gateway, operator, cleanup);
  const known = await createData(foreseen, { ...operatorClients, secrets });
  progress(`Created ${foreseen.queues.length} queues, ${foreseen.tables.length} tables`);

  const api =
    foreseen.api === undefined
      ? undefined
      : cleanup.adopt(
          await startHttpApi(options.apiPort ?? 0, gateway, (exchange) => {
            if (alarmsOf !== undefined && foreseen.api !== undefined)
              measureRequest(exchange, foreseen.api, alarmsOf);
            options.onAnswered?.(exchange);
          }),
          ({ close }) => close(),
        );
  const planOf = (stack: SynthesizedStack) =>
    withLocalAddresses(planStack(stack, { ...place, known }), api, region);
  const plan = planOf(synthesized);
  for (const { arn: resource, policy } of plan.resourcePolicies) gateway.setResourcePolicy(resource, policy);

  const alarms = cleanup.adopt(watch(plan, functions, gateway, options, delay), ({ close }) => close());
  alarmsOf = alarms;
  const hosted = plan.functions.map((planned) =>
    startFunction(planned, gateway, options, alarms, onProblem, cleanup),
  );
  for (const { host } of hosted) functions.set(host.plan.logicalId, host);
  if (api !== undefined && plan.api !== undefined) api.serve(plan.api, functions);
  const schedules = startSchedules({
    rules: plan.rules,
    functions,
    gateway,
    invoker,
    delay,
    now: () => new Date(),
  });
  cleanup.adopt(schedules, ({ close }) => close());

  const queues = new Map(
    plan.queues.map(({ logicalId, name, arn: queueArn }) => {
      const url = known.get(logicalId)?.ref ?? "";
      return [name, { logicalId, name, arn: queueArn, url }];
    }),
  );
  const sources = plan.sources
    .filter(({ enabled }) => enabled)
    .flatMap((source) => {
      const entry = hosted.find(({ host }) => host.plan.logicalId === source.function);
      if (entry === undefined) return [];
      const shared = { region, target: entry.host, delay, onProblem };
      const queueUrl = known.get(source.kind === "queue" ? source.queue.logicalId : "")?.ref ?? "";
      const running: QueueSource | StreamSource =
        source.kind === "queue"
          ? startQueueSource({ ...shared, plan: source, queueUrl, sqs: entry.clients.sqs })
          : startStreamSource({
              ...shared,
              plan: source,
              gateway,
              retentionSeconds: options.streamRetentionSeconds,
              onMeasured: (name, value) => alarms.record(streamMetric(name, source, entry.host.plan), value),
              ...entry.clients,
            });
      return [{ plan: source, running: cleanup.adopt(running, ({ close }) => close()), queueUrl }];
    });
  mappings = () =>
    plan.sources.map((source) => {
      const running = sources.find((each) => each.plan === source)?.running;
      const stream = running !== undefined && "setEnabled" in running ? running : undefined;
      return {
        id: source.id,
        enabled: stream?.isEnabled() ?? source.enabled,
        eventSourceArn: source.kind === "queue" ? source.queue.arn : source.streamArn,
        functionArn: functions.get(source.function)?.plan.arn ?? "",
        ...(stream && { setEnabled: stream.setEnabled }),
      };
    });
  // Closed first: a source waits for its batches, and a batch ends at once when its function does.
  cleanup.defer(async () => {
    await Promise.all(hosted.map(({ host }) => host.close()));
  });
  progress(`Running ${functions.size} functions, ${sources.length} event sources`);

  const setSecretWith = new SecretsManagerClient(clientSettings(gateway, operator));
  cleanup.defer(() => setSecretWith.destroy());
  return {
    name: plan.name,
    region,
    account: localAccount,
    apiUrl: api?.url,
    gatewayUrl: gateway.url,
    engine: tables.name,
    operator,
    outputs: plan.outputs,
    queues,
    tables: plan.tables,
    buckets: plan.buckets,
    secrets: plan.secrets.map(({ logicalId, name, arn: secretArn }) => ({ logicalId, name, arn: secretArn })),
    functions: hosted.map(({ host, log }) => localFunction(host, log)),
    notRun: plan.notRun,
    gateway,
    schedules,
    alarms: alarms.states,
    alarmPlans: plan.alarms,
    lookAtAlarms: alarms.look,
    alarmValues: alarms.values,
    accessLog: () => api?.accessLog() ?? [],
    statusCounts: () => api?.statusCounts() ?? new Map(),
    problems: () => ({
      denials: gateway.denials(),
      initErrors: hosted.flatMap(({ host }) =>
        host.initErrors().map((reason) => `${host.plan.name}: ${reason}`),
      ),
      failures,
    }),
    drained: (drain) =>
      waitUntilDrained(
        {
          sqs: operatorClients.sqs,
          queueUrls: sources.flatMap(({ queueUrl }) => (queueUrl === "" ? [] : [queueUrl])),
          streams: sources.flatMap(({ running }) => ("caughtUp" in running ? [running] : [])),
          functions: [...functions.values()],
          pendingEvents: invoker.pending,
        },
        drain,
      ),
    functionsOf: (assembly) => planOf(readAssembly(assembly, options.stackName)).functions,
    setSecret: async (SecretId, SecretString) => {
      await setSecretWith.send(new PutSecretValueCommand({ SecretId, SecretString }));
    },
    close: () => cleanup.disposeAsync(),
  };
}

/** A stack without tables needs no engine for them. */
async function startTables(plan: StackPlan, engine: DynamoDbEngine | undefined): Promise<RunningDynamoDb> {
  if (plan.tables.length > 0) return startDynamoDb(engine === undefined ? {} : { engine });
  return { url: "http://127.0.0.1:1", name: "none, as the stack has no table", close: async () => {} };
}

/** Functions are hosted after their alarms are there: what they log counts from the first line on. */
function watch(
  plan: StackPlan,
  functions: ReadonlyMap<string, HostedFunction>,
  gateway: Gateway,
  { onAlarm = () => undefined }: StackOptions,
  delay: Delay,
): Alarms {
  return startAlarms({
    alarms: plan.alarms,
    filters: plan.metricFilters,
    totalOf: (metric) => {
      const found = [...functions.values()].find((host) => host.plan.name === metric.dimensions.FunctionName);
      return found && functionTotal(found.counts(), metric);
    },
    gaugeOf: ({ dimensions, name }) => gateway.queueGauge(dimensions.QueueName ?? "", name),
    delay,
    now: Date.now,
    onChange: onAlarm,
  });
}

function startFunction(
  plan: FunctionPlan,
  gateway: Gateway,
  options: StackOptions,
  alarms: Alarms,
  onProblem: (message: string) => void,
  cleanup: AsyncDisposableStack,
) {
  const onWritten = (line: string) => alarms.onLine(plan.logGroupName, line);
  const credentials = newCredentials(plan.name);
  gateway.register({ name: plan.name, arn: plan.roleArn, ...credentials, policies: plan.policies });
  const log = cleanup.adopt(
    createFunctionLog(plan, gateway, options.logsDir, onProblem, onWritten),
    ({ close }) => close(),
  );
  const endpoint = { gatewayUrl: gateway.url, region: gateway.region };
  const environmentOf = (code: FunctionPlan) => functionEnvironment(code, credentials, endpoint);
  const maximumProcesses = options.maximumProcesses ?? 4;
  const host = hostFunction(plan, { environmentOf, onLine: log.write, maximumProcesses });
  cleanup.adopt(host, ({ close }) => close());
  return { host, log, clients: clientsFor(gateway, credentials, cleanup) };
}

function localFunction(host: HostedFunction, log: FunctionLog): LocalFunction {
  const { logicalId, name, arn, memoryMb } = host.plan;
  const { invoke, serve, weigh, killWorking, kill, counts } = host;
  const { lines, bytes: logBytes } = log;
  return {
    logicalId,
    name,
    arn,
    memoryMb,
    invoke,
    serve,
    weigh,
    killWorking,
    kill,
    counts,
    log: lines,
    logBytes,
  };
}

/** The gateway knows a caller by its access key, which has letters and digits only. */
function newCredentials(name: string): Credentials {
  const digest = createHash("sha256").update(name).digest("hex").toUpperCase();
  return { accessKeyId: `LOCAL${digest.slice(0, 15)}`, secretAccessKey: randomUUID() };
}

function clientSettings(gateway: Gateway, credentials: Credentials) {
  return { region: gateway.region, endpoint: gateway.url, credentials };
}

function clientsFor(gateway: Gateway, credentials: Credentials, cleanup: AsyncDisposableStack) {
  const settings = clientSettings(gateway, credentials);
  const clients = {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    streams: new DynamoDBStreamsClient(settings),
    s3: new S3Client(settings),
  };
  cleanup.defer(() => {
    for (const client of Object.values(clients)) client.destroy();
  });
  return clients;
}

/** Templates build the API's address from its id, as it would stand in AWS. */
function withLocalAddresses(plan: StackPlan, api: HttpApi | undefined, region: string): StackPlan {
  if (api === undefined || plan.api === undefined) return plan;
  const origins = [
    executeApiOrigin(plan.api.id, region),
    ...plan.api.domains.map((domain) => `https://${domain}`),
  ];
  const localized = (value: string): string =>
    origins.reduce((text, origin) => text.replaceAll(origin, api.url), value);
  const localize = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, localized(value)]));
  return {
    ...plan,
    outputs: localize(plan.outputs),
    functions: plan.functions.map((planned) => ({ ...planned, environment: localize(planned.environment) })),
  };
}
