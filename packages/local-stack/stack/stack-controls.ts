import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { HttpApi } from "../api/http-api.ts";
import type { FunctionPlan, StackPlan } from "../assembly/plan.ts";
import type { SecretsEngine } from "../engines/secrets.ts";
import type { AsynchronousInvoker } from "../lambda/asynchronous.ts";
import type { Credentials } from "../lambda/environment.ts";
import type { Schedules } from "../schedules/schedules.ts";
import { waitUntilDrained } from "../sources/drained.ts";
import type { LocalQueue, LocalStack } from "./local-stack.ts";
import { type Clients, clientSettings, type StackParts } from "./stack-parts.ts";
import { localFunction, type RunningSource, type StartedFunction } from "./start-event-sources.ts";

export type StartedStack = StackParts & {
  readonly plan: StackPlan;
  /** Name of the table engine, for printing. */
  readonly engine: string;
  readonly operator: Credentials;
  readonly clients: Clients;
  readonly apis: readonly HttpApi[];
  readonly functions: readonly StartedFunction[];
  readonly sources: readonly RunningSource[];
  readonly queueUrlOf: (logicalId: string) => string;
  readonly schedules: Schedules;
  readonly invoker: AsynchronousInvoker;
  readonly secrets: SecretsEngine;
  readonly failures: readonly string[];
  readonly functionsOf: (assembly: string) => readonly FunctionPlan[];
};

export function stackControls(started: StartedStack): LocalStack {
  const { plan, gateway, operator, apis, alarms, functions, sources, schedules, cleanup } = started;
  const secrets = new SecretsManagerClient(clientSettings(gateway, operator));
  cleanup.defer(() => secrets.destroy());
  return {
    name: plan.name,
    region: gateway.region,
    account: gateway.account,
    apiUrl: apis[0]?.url,
    gatewayUrl: gateway.url,
    engine: started.engine,
    operator,
    outputs: plan.outputs,
    queues: queuesOf(started),
    tables: plan.tables,
    buckets: plan.buckets,
    secrets: plan.secrets.map(({ logicalId, name, arn }) => ({ logicalId, name, arn })),
    functions: functions.map(localFunction),
    notRun: plan.notRun,
    gateway,
    schedules,
    occupyConcurrency: started.account.occupy,
    alarms: alarms.states,
    alarmPlans: plan.alarms,
    refreshAlarms: alarms.refresh,
    alarmValues: alarms.values,
    accessLog: () => apis.flatMap((api) => api.accessLog()),
    statusCounts: () => sumOf(apis.map((api) => api.statusCounts())),
    problems: () => ({
      denials: gateway.denials(),
      initErrors: functions.flatMap(({ host }) =>
        host.initErrors().map((reason) => `${host.plan.name}: ${reason}`),
      ),
      failures: started.failures,
    }),
    drained: (drain) =>
      waitUntilDrained(
        {
          sqs: started.clients.sqs,
          queueUrls: sources.flatMap(({ queueUrl }) => (queueUrl === "" ? [] : [queueUrl])),
          streams: sources.flatMap(({ running }) => ("caughtUp" in running ? [running] : [])),
          functions: functions.map(({ host }) => host),
          pendingEvents: started.invoker.pending,
        },
        drain,
      ),
    functionsOf: started.functionsOf,
    setSecret: async (SecretId, SecretString) => {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
    },
    secretValue: (SecretId) => String(started.secrets.call("GetSecretValue", { SecretId }).SecretString),
    close: () => cleanup.disposeAsync(),
  };
}

function queuesOf({ plan, queueUrlOf }: StartedStack): ReadonlyMap<string, LocalQueue> {
  return new Map(
    plan.queues.map(({ logicalId, name, arn }) => [
      name,
      { logicalId, name, arn, url: queueUrlOf(logicalId) },
    ]),
  );
}

function sumOf(counts: readonly ReadonlyMap<number, number>[]): ReadonlyMap<number, number> {
  const sum = new Map<number, number>();
  for (const [status, count] of counts.flatMap((each) => [...each]))
    sum.set(status, (sum.get(status) ?? 0) + count);
  return sum;
}
