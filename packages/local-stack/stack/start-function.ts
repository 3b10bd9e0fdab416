import type { FunctionPlan } from "../assembly/plan.ts";
import { functionEnvironment } from "../lambda/environment.ts";
import { createFunctionLog, type FunctionLog } from "../lambda/function-log.ts";
import { type HostedFunction, hostFunction } from "../lambda/hosted-function.ts";
import { type Clients, clientsFor, newCredentials } from "./clients.ts";
import type { LocalFunction } from "./local-stack.ts";
import type { StackParts } from "./stack-parts.ts";

/** A function that runs, with its log and what polls its event sources in its name. */
export type StartedFunction = {
  readonly host: HostedFunction;
  readonly log: FunctionLog;
  readonly clients: Clients;
};

/** Starts a function as a caller of its own at the gateway. */
export function startFunction(
  plan: FunctionPlan,
  { gateway, alarms, account, options, onProblem, cleanup }: StackParts,
): StartedFunction {
  const credentials = newCredentials(plan.name);
  gateway.register({ name: plan.name, arn: plan.roleArn, ...credentials, policies: plan.policies });
  const log = createFunctionLog(plan, gateway, {
    directory: options.logsDir,
    onError: onProblem,
    onWritten: (line) => alarms.onLine(plan.logGroupName, line),
  });
  cleanup.adopt(log, ({ close }) => close());
  const endpoint = { gatewayUrl: gateway.url, region: gateway.region };
  const environmentOf = (code: FunctionPlan) => functionEnvironment(code, credentials, endpoint);
  const maximumProcesses = options.maximumProcesses ?? 4;
  const host = hostFunction(plan, { environmentOf, onLine: log.write, maximumProcesses, account });
  cleanup.adopt(host, ({ close }) => close());
  return { host, log, clients: clientsFor(gateway, credentials, cleanup) };
}

/** What can be asked of a function that runs and done to it. */
export function localFunction({ host, log }: StartedFunction): LocalFunction {
  const { logicalId, name, arn, memoryMb } = host.plan;
  const { invoke, serve, measureMemory, killWorking, kill, counts } = host;
  const { lines, bytes: logBytes, write: addToLog } = log;
  return {
    logicalId,
    name,
    arn,
    memoryMb,
    invoke,
    serve,
    measureMemory,
    killWorking,
    kill,
    counts,
    log: lines,
    logBytes,
    addToLog,
  };
}
