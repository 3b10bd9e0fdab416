import { sourceMetric } from "../alarms/measure.ts";
import type { StackPlan } from "../assembly/plan.ts";
import { keptJson } from "../engines/kept-json.ts";
import type { EventSourceMapping } from "../gateway/lambda-mappings.ts";
import type { SourceMetricName } from "../sources/batch-response.ts";
import { type QueueSource, startQueueSource } from "../sources/queue-source.ts";
import { type StreamSource, startStreamSource } from "../sources/stream-source.ts";
import type { StackParts } from "./stack-parts.ts";
import type { StartedFunction } from "./start-function.ts";

type SourcePlan = StackPlan["sources"][number];

export type RunningSource = {
  readonly plan: SourcePlan;
  readonly running: QueueSource | StreamSource;
  /** Empty where it is a stream. */
  readonly queueUrl: string;
};

/** Starts every event source of a plan that is enabled and has its function. */
export function startEventSources(
  plan: StackPlan,
  functions: readonly StartedFunction[],
  queueUrlOf: (logicalId: string) => string,
  parts: StackParts,
): readonly RunningSource[] {
  return plan.sources
    .filter(({ enabled }) => enabled)
    .flatMap((source) => {
      const target = functions.find(({ host }) => host.plan.logicalId === source.function);
      if (target === undefined) return [];
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

/** The event source mappings of a plan as Lambda's API shows them; those of streams can be switched off and on. */
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
