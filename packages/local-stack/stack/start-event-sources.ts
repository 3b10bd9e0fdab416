import { sourceMetric } from "../alarms/measure.ts";
import type { FunctionPlan, StackPlan } from "../assembly/plan.ts";
import { keptJson } from "../engines/kept.ts";
import type { EventSourceMapping } from "../gateway/lambda.ts";
import { functionEnvironment } from "../lambda/environment.ts";
import { createFunctionLog } from "../lambda/function-log.ts";
import { hostFunction } from "../lambda/hosted-function.ts";
import type { SourceMetricName } from "../sources/batch-response.ts";
import { type QueueSource, startQueueSource } from "../sources/queue-source.ts";
import { type StreamSource, startStreamSource } from "../sources/stream-source.ts";
import { clientsFor, newCredentials, type StackParts } from "./stack-parts.ts";

type SourcePlan = StackPlan["sources"][number];

export type RunningSource = ReturnType<typeof startEventSources>[number];

export function startEventSources(
  plan: StackPlan,
  functions: readonly StartedFunction[],
  queueUrlOf: (logicalId: string) => string,
  parts: StackParts,
) {
  return plan.sources
    .filter(({ enabled }) => enabled)
    .flatMap((source) => {
      const target = functions.find(({ host }) => host.plan.logicalId === source.function);
      if (target === undefined) return [];
      // A stream has none.
      const queueUrl = source.kind === "queue" ? queueUrlOf(source.queue.logicalId) : "";
      const running = startEventSource(source, target, queueUrl, parts);
      return [{ plan: source, running: parts.cleanup.adopt(running, ({ close }) => close()), queueUrl }];
    });
}

function startEventSource(
  plan: SourcePlan,
  { host, clients }: StartedFunction,
  queueUrl: string,
  { gateway, alarms, options, delay, onProblem }: StackParts,
): QueueSource | StreamSource {
  const onMeasured = (name: SourceMetricName, value: number): void =>
    alarms.record(sourceMetric(name, plan, host.plan), value);
  const shared = { region: gateway.region, target: host, delay, onProblem, onMeasured };
  if (plan.kind === "queue") return startQueueSource({ ...shared, plan, queueUrl, sqs: clients.sqs });
  return startStreamSource({
    ...shared,
    plan,
    gateway,
    ...(options.keep !== undefined && { kept: keptJson(options.keep, `stream-${plan.logicalId}`) }),
    retentionSeconds: options.streamRetentionSeconds,
    ...clients,
  });
}

/**
 * Event source mappings of a plan as Lambda's API returns them; those of streams can be enabled and disabled.
 */
export function mappingsOf(
  plan: StackPlan,
  functions: readonly StartedFunction[],
  sources: readonly RunningSource[],
): readonly EventSourceMapping[] {
  return plan.sources.map((source) => {
    const running = sources.find((each) => each.plan === source)?.running;
    const stream = running !== undefined && "setEnabled" in running ? running : undefined;
    const target = functions.find(({ host }) => host.plan.logicalId === source.function);
    return {
      id: source.id,
      enabled: stream?.isEnabled() ?? source.enabled,
      eventSourceArn: source.kind === "queue" ? source.queue.arn : source.streamArn,
      functionArn: target?.host.plan.arn ?? "",
      ...(stream && { setEnabled: stream.setEnabled }),
    };
  });
}

export type StartedFunction = ReturnType<typeof startFunction>;

/** Starts a function, with its log and the clients that poll its event sources. */
export function startFunction(
  plan: FunctionPlan,
  { gateway, alarms, account, options, onProblem, cleanup }: StackParts,
) {
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

export type LocalFunction = ReturnType<typeof localFunction>;

export function localFunction({ host: { plan, ...host }, log }: StartedFunction) {
  const { logicalId, name, arn, memoryMb } = plan;
  // `addToLog` adds a line as if the function had written it.
  const { lines, bytes: logBytes, write: addToLog } = log;
  return { logicalId, name, arn, memoryMb, ...host, log: lines, logBytes, addToLog };
}
