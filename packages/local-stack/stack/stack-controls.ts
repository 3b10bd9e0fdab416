import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { HttpApi } from "../api/http-api.ts";
import type { FunctionPlan, StackPlan } from "../assembly/plan.ts";
import type { SecretsEngine } from "../engines/secrets.ts";
import type { AsynchronousInvoker } from "../lambda/asynchronous.ts";
import type { Credentials } from "../lambda/environment.ts";
import type { Schedules } from "../schedules/schedules.ts";
import { type DrainOptions, waitUntilDrained } from "../sources/drained.ts";
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

/** A stack on this machine: its state and controls. */
export type LocalStack = ReturnType<typeof stackControls>;

export function stackControls(started: StartedStack) {
  const { plan, gateway, operator, apis, alarms, functions, sources, schedules, cleanup } = started;
  const secrets = new SecretsManagerClient(clientSettings(gateway, operator));
  cleanup.defer(() => secrets.destroy());
  return {
    name: plan.name,
    region: gateway.region,
    account: gateway.account,
    /** URL of the first HTTP API; undefined if the stack has none. */
    apiUrl: apis[0]?.url,
    gatewayUrl: gateway.url,
    /** Name of the table engine, for printing. */
    engine: started.engine,
    operator,
    outputs: plan.outputs,
    queues: queuesOf(started),
    tables: plan.tables,
    buckets: plan.buckets,
    eventSources: plan.sources,
    secrets: plan.secrets,
    functions: functions.map(localFunction),
    /** Resources that this machine does not run, for printing. */
    notRun: plan.notRun,
    gateway,
    schedules,
    /** Simulates a saturated account: occupies executions for other functions; returns a function that releases them. */
    occupyConcurrency: started.account.occupy,
    alarms: alarms.states,
    alarmPlans: plan.alarms,
    /** Polls the gauges (ages and depths of queues) before evaluating the alarms. */
    refreshAlarms: alarms.refresh,
    alarmValues: alarms.values,
    accessLog: () => apis.flatMap((api) => api.accessLog()),
    problems: () => ({
      /** Calls that policies denied, including writes to log groups. */
      denials: gateway.denials(),
      /** Functions whose handler cannot be imported, with the error. */
      initErrors: functions.flatMap(({ host }) =>
        host.initErrors().map((reason) => `${host.plan.name}: ${reason}`),
      ),
      /** Errors of event sources, failure destinations and log files. */
      failures: started.failures,
    }),
    /**
     * Resolves when every queue that feeds a function is empty (including in-flight and delayed messages),
     * streams are fully read, and no function is running.
     * @throws Error at the deadline, naming the remaining work
     */
    drained: (drain: DrainOptions) =>
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
    /**
     * Functions of another assembly of this stack, with this stack's resources: the code after an update or a
     * rollback.
     */
    functionsOf: started.functionsOf,
    setSecret: async (SecretId: string, SecretString: string): Promise<void> => {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }));
    },
    /**
     * Current value (SecretString) of a secret.
     * @throws if there is none
     */
    secretValue: (SecretId: string) =>
      String(started.secrets.call("GetSecretValue", { SecretId }).SecretString),
    close: () => cleanup.disposeAsync(),
  };
}

function queuesOf({ plan, queueUrlOf }: StartedStack) {
  return new Map(
    plan.queues.map(({ logicalId, name, arn }) => [
      name,
      { logicalId, name, arn, url: queueUrlOf(logicalId) },
    ]),
  );
}
