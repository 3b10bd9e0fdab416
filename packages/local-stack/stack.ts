import { type Alarms, startAlarms } from "./alarms/alarms.ts";
import { functionTotal, measureRequest } from "./alarms/measure.ts";
import { type FunctionUrl, startFunctionUrl } from "./api/function-url.ts";
import { type HttpApi, startHttpApi } from "./api/http-api.ts";
import { createData } from "./assembly/create-data.ts";
import { executeApiOrigin } from "./assembly/identity.ts";
import type { StackPlan } from "./assembly/plan.ts";
import { planStack } from "./assembly/plan-stack.ts";
import { readAssembly, type SynthesizedStack } from "./assembly/read-assembly.ts";
import { type RunningDynamoDb, startDynamoDb } from "./engines/dynamodb.ts";
import { localAccount } from "./engines/engine-client.ts";
import { checkKept, keptJson } from "./engines/kept.ts";
import { startQueuesAndObjects } from "./engines/queues-and-objects.ts";
import { createSecretsEngine } from "./engines/secrets.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { startGateway } from "./gateway/gateway.ts";
import type { EventSourceMapping } from "./gateway/lambda.ts";
import type { LogGroup } from "./gateway/logs/logs.ts";
import { createAccountConcurrency } from "./lambda/account-concurrency.ts";
import { createAsynchronousInvoker } from "./lambda/asynchronous.ts";
import { realDelay } from "./lambda/delay.ts";
import type { Credentials } from "./lambda/environment.ts";
import type { HostedFunction } from "./lambda/hosted-function.ts";
import { startSchedules } from "./schedules/schedules.ts";
import { type LocalStack, stackControls } from "./stack/stack-controls.ts";
import { clientsFor, newCredentials, type StackOptions, type StackParts } from "./stack/stack-parts.ts";
import { mappingsOf, startEventSources, startFunction } from "./stack/start-event-sources.ts";

export type { LocalStack } from "./stack/stack-controls.ts";
export type { StackOptions } from "./stack/stack-parts.ts";
export type { LocalFunction } from "./stack/start-event-sources.ts";

const defaultRegion = "eu-central-1";
const operatorName = "operator";

/**
 * Starts a synthesized stack on this machine: engines, gateway, functions, event sources, HTTP API,
 * schedules. Closes what it started if it fails.
 * @throws UnrunnableAssemblyError listing every problem of the assembly; Error if an engine or a port is
 * unavailable
 */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  await using cleanup = new AsyncDisposableStack();
  const progress = options.onProgress ?? (() => {});
  const delay = options.delay ?? realDelay;
  const failures: string[] = [];
  const onProblem = (message: string): void => void failures.push(message);

  const synthesized = readAssembly(options.assembly, options.stackName);
  const region = synthesized.region ?? defaultRegion;
  const place = { region, account: localAccount, parameters: options.parameters ?? {} };
  const provisionalPlan = planStack(synthesized, place);
  progress(`Planned the stack ${provisionalPlan.name}: ${provisionalPlan.functions.length} functions`);

  const queuesAndObjects = cleanup.adopt(
    await startQueuesAndObjects({ region, keep: options.keep, shortPollMs: options.shortPollMs }),
    ({ close }) => close(),
  );
  const tables = await (options.tables ?? startTables(provisionalPlan, options, cleanup));
  progress(`Tables: ${tables.name}`);
  checkKept(options.keep, { stack: provisionalPlan.name, engine: tables.kind });
  const kept = options.keep === undefined ? {} : { kept: keptJson(options.keep, "secrets") };
  const secrets = createSecretsEngine({ region, account: localAccount, ...kept });
  const invoker = createAsynchronousInvoker(delay);
  cleanup.adopt(invoker, ({ close }) => close());
  const hosts = new Map<string, HostedFunction>();
  // Created after the gateway, which reads them later.
  let alarmsOf: Alarms | undefined;
  const logGroups: LogGroup[] = [];
  let listed: StackPlan | undefined;
  let mappings: () => readonly EventSourceMapping[] = () => [];
  const gateway = await startGateway({
    port: options.gatewayPort ?? 0,
    region,
    account: localAccount,
    dynamodbUrl: tables.url,
    queues: queuesAndObjects.queues,
    s3Url: queuesAndObjects.url,
    secrets,
    countsCapacity: options.countsCapacity ?? false,
    deduplicationSeconds: options.deduplicationSeconds,
    lambda: { functions: hosts, invoker, mappings: () => mappings() },
    alarms: () => alarmsOf,
    logs: { groups: () => logGroups },
    stack: () => listed,
    onProblem,
    onThrottled: ({ tableName, metric: name }) => {
      alarmsOf?.record({ namespace: "AWS/DynamoDB", name, dimensions: { TableName: tableName } }, 1);
    },
  });
  cleanup.adopt(gateway, ({ close }) => close());
  const operator = registerOperator(gateway);
  const clients = clientsFor(gateway, operator, cleanup);
  const known = await createData(provisionalPlan, { ...clients, secrets });
  progress(`Created ${provisionalPlan.queues.length} queues, ${provisionalPlan.tables.length} tables`);

  const apis = await startApis(provisionalPlan, { gateway, options, cleanup }, () => alarmsOf);
  const urls = await startUrls(provisionalPlan, { gateway, cleanup }, () => alarmsOf);
  const planOf = (stack: SynthesizedStack) =>
    withLocalAddresses(planStack(stack, { ...place, known }), apis, urls, region);
  const plan = planOf(synthesized);
  listed = plan;
  for (const { arn, policy } of plan.resourcePolicies) gateway.setResourcePolicy(arn, policy);

  const alarms = watch(plan, hosts, { gateway, options, delay });
  cleanup.adopt(alarms, ({ close }) => close());
  alarmsOf = alarms;
  const account = createAccountConcurrency(
    plan.functions.flatMap(({ reservedConcurrency }) => reservedConcurrency ?? []),
    options.accountConcurrency,
  );
  const parts: StackParts = { gateway, alarms, account, options, delay, onProblem, cleanup };
  const functions = plan.functions.map((planned) => startFunction(planned, parts));
  for (const { host, log } of functions) {
    hosts.set(host.plan.logicalId, host);
    logGroups.push({ ...log, name: host.plan.logGroupName });
  }
  for (const api of plan.apis) apis.get(api.logicalId)?.serve(api, hosts);
  for (const { logicalId, function: target } of plan.urls) {
    const host = hosts.get(target);
    if (host !== undefined) urls.get(logicalId)?.serve(host);
  }
  const now = () => new Date();
  const schedules = startSchedules({ rules: plan.rules, functions: hosts, gateway, invoker, delay, now });
  cleanup.adopt(schedules, ({ close }) => close());

  const queueUrlOf = (logicalId: string) => known.get(logicalId)?.ref ?? "";
  const sources = startEventSources(plan, functions, queueUrlOf, parts);
  mappings = () => mappingsOf(plan, functions, sources);
  // Closed first: a source waits for its batches, and a batch ends at once when its function does.
  cleanup.defer(async () => {
    await Promise.all(functions.map(({ host }) => host.close()));
  });
  progress(`Running ${functions.length} functions, ${sources.length} event sources`);
  const functionsOf = (assembly: string) => planOf(readAssembly(assembly, options.stackName)).functions;
  const controlled = {
    cleanup: cleanup.move(),
    operator,
    clients,
    apis: [...apis.values()],
    functions,
    sources,
    queueUrlOf,
    schedules,
    invoker,
    secrets,
  };
  return stackControls({ ...parts, ...controlled, plan, engine: tables.name, failures, functionsOf });
}

/** A stack without tables needs no table engine. */
async function startTables(
  plan: StackPlan,
  { engine, keep }: Pick<StackOptions, "engine" | "keep">,
  cleanup: AsyncDisposableStack,
): Promise<RunningDynamoDb> {
  if (plan.tables.length > 0) {
    const started = await startDynamoDb({ keep, ...(engine !== undefined && { engine }) });
    return cleanup.adopt(started, ({ close }) => close());
  }
  const name = "none, as the stack has no table";
  return { url: "http://127.0.0.1:1", name, kind: "none", close: async () => {} };
}

function registerOperator(gateway: Gateway): Credentials {
  const operator = newCredentials(operatorName);
  const arn = `arn:aws:iam::${localAccount}:user/${operatorName}`;
  gateway.register({ name: operatorName, arn, ...operator, policies: "all" });
  return operator;
}

/** Starts the HTTP APIs of a plan and measures their requests. The first API uses the options' port. */
async function startApis(
  { apis: plans }: StackPlan,
  { gateway, options, cleanup }: Pick<StackParts, "gateway" | "options" | "cleanup">,
  alarms: () => Alarms | undefined,
): Promise<ReadonlyMap<string, HttpApi>> {
  const started = new Map<string, HttpApi>();
  for (const [index, plan] of plans.entries()) {
    const port = index === 0 ? (options.apiPort ?? 0) : 0;
    const api = await startHttpApi(port, gateway, (exchange) => {
      const measured = alarms();
      if (measured !== undefined) measureRequest(exchange, plan, measured);
      options.onAnswered?.(exchange);
    });
    cleanup.adopt(api, ({ close }) => close());
    started.set(plan.logicalId, api);
  }
  return started;
}

async function startUrls(
  { urls }: StackPlan,
  { gateway, cleanup }: Pick<StackParts, "gateway" | "cleanup">,
  alarms: () => Alarms | undefined,
): Promise<ReadonlyMap<string, FunctionUrl>> {
  const started = new Map<string, FunctionUrl>();
  for (const url of urls) {
    const listening = await startFunctionUrl(url, gateway, ({ plan: { name } }, status) => {
      const metric = { namespace: "AWS/Lambda", name: "Url5xxCount", dimensions: { FunctionName: name } };
      if (status >= 500) alarms()?.record(metric, 1);
    });
    cleanup.adopt(listening, ({ close }) => close());
    started.set(url.logicalId, listening);
  }
  return started;
}

/** Functions start after their alarms so that their first lines count. */
function watch(
  plan: StackPlan,
  functions: ReadonlyMap<string, HostedFunction>,
  { gateway, options, delay }: Pick<StackParts, "gateway" | "options" | "delay">,
): Alarms {
  return startAlarms({
    alarms: plan.alarms,
    filters: plan.metricFilters,
    totalOf: (metric) => {
      const found = [...functions.values()].find((host) => host.plan.name === metric.dimensions.FunctionName);
      return found && functionTotal(found.counts(), metric);
    },
    gaugeOf: async ({ dimensions, name }) => gateway.queueGauge(dimensions.QueueName ?? "", name),
    delay,
    compositeAlarms: plan.compositeAlarms,
    now: options.alarmClock ?? Date.now,
    onChange: options.onAlarm ?? (() => undefined),
    ...(options.onNotice && { onNotice: options.onNotice }),
  });
}

/** Replaces AWS addresses: a template builds the API's from its id, and a function's URL is an attribute. */
function withLocalAddresses(
  plan: StackPlan,
  apis: ReadonlyMap<string, HttpApi>,
  urls: ReadonlyMap<string, FunctionUrl>,
  region: string,
): StackPlan {
  const replaced: readonly (readonly [string, string])[] = [
    ...plan.apis.flatMap(({ logicalId, id, domains }) => {
      const addresses = [executeApiOrigin(id, region), ...domains.map((domain) => `https://${domain}`)];
      return addresses.map((address) => [address, apis.get(logicalId)?.url ?? address] as const);
    }),
    ...plan.urls.map(({ logicalId, url }) => [url, urls.get(logicalId)?.url ?? url] as const),
  ];
  const localized = (value: string): string =>
    replaced.reduce((text, [address, local]) => text.replaceAll(address, local), value);
  const localize = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, localized(value)]));
  return {
    ...plan,
    outputs: localize(plan.outputs),
    functions: plan.functions.map((planned) => ({ ...planned, environment: localize(planned.environment) })),
  };
}
