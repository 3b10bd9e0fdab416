import type { AlarmState, Alarms } from "../alarms/alarms.ts";
import type { MetricPlan } from "../assembly/plan.ts";
import type { Answer } from "../http-server.ts";
import { jsonAnswer } from "./answer.ts";
import {
  asList,
  asObject,
  asString,
  checkInputs,
  type JsonObject,
  type Operation,
  type Place,
  UnknownOperationError,
} from "./operation.ts";
import { type QueueMetricName, type QueueMetrics, queueMetricNames } from "./queue-metrics.ts";

export type Monitoring = {
  /** Alarms, and metrics of log filters and HTTP APIs. The gateway starts before the stack's. */
  readonly alarms: () => Pick<Alarms, "refresh" | "sums" | "percentiles"> | undefined;
  readonly queueMetrics: QueueMetrics;
};

type Query = {
  readonly id: string;
  readonly period: number;
} & (
  | { readonly queueName: string; readonly metric: QueueMetricName }
  | { readonly counted: MetricPlan; readonly percent: number | undefined }
);

const knownInputs: Readonly<Record<string, readonly string[]>> = {
  DescribeAlarms: ["AlarmNamePrefix", "AlarmNames", "AlarmTypes", "MaxRecords", "StateValue"],
  GetMetricData: ["MetricDataQueries", "StartTime", "EndTime", "ScanBy"],
};

/**
 * Parses a call to CloudWatch.
 * Source: CloudWatch API reference, "DescribeAlarms" and "GetMetricData"; service authorization reference.
 * @throws UnknownOperationError for calls that this machine does not answer as CloudWatch would
 */
export function cloudWatchOperation(name: string, input: JsonObject, scope: Place): Operation {
  checkInputs(`cloudwatch:${name}`, input, knownInputs);
  if (name === "GetMetricData") queriesOf(input);
  const resource =
    name === "DescribeAlarms" ? `arn:aws:cloudwatch:${scope.region}:${scope.account}:alarm:*` : "*";
  return {
    service: "cloudwatch",
    action: `cloudwatch:${name}`,
    needs: [{ action: `cloudwatch:${name}`, resource }],
  };
}

export async function cloudWatchAnswer(
  { action }: Operation,
  input: JsonObject,
  { alarms, queueMetrics }: Monitoring,
): Promise<Answer> {
  const measured = alarms();
  if (action === "cloudwatch:DescribeAlarms") {
    const wanted = ((await measured?.refresh()) ?? []).filter((alarm) => isWanted(alarm, input));
    return jsonAnswer(200, { MetricAlarms: wanted.map(described), CompositeAlarms: [] });
  }
  const range = { from: Number(input.StartTime), to: Number(input.EndTime) };
  const results = queriesOf(input).map((query) => {
    const { id, period } = query;
    const ofCounted = ({ counted, percent }: Extract<Query, { readonly counted: MetricPlan }>) =>
      percent === undefined
        ? measured?.sums(counted, { ...range, period })
        : measured?.percentiles(counted, percent, { ...range, period });
    const values = [
      ...("counted" in query
        ? (ofCounted(query) ?? [])
        : queueMetrics.values(query.queueName, query.metric, { ...range, period })),
    ];
    if (input.ScanBy !== "TimestampAscending") values.reverse();
    return {
      Id: id,
      Label: "counted" in query ? query.counted.name : query.metric,
      StatusCode: "Complete",
      Timestamps: values.map(([at]) => at),
      Values: values.map(([, value]) => value),
    };
  });
  return jsonAnswer(200, { MetricDataResults: results, Messages: [] });
}

function isWanted({ name, state }: AlarmState, { AlarmNamePrefix, AlarmNames, StateValue }: JsonObject) {
  return (
    name.startsWith(asString(AlarmNamePrefix)) &&
    (!Array.isArray(AlarmNames) || AlarmNames.includes(name)) &&
    (StateValue === undefined || StateValue === state)
  );
}

/** CloudWatch reports an expression alarm's periods in its metrics. */
function described(alarm: AlarmState) {
  const { name, description, state, since, actions, taken, periodSeconds, evaluationPeriods } = alarm;
  return {
    AlarmName: name,
    AlarmActions: actions,
    AlarmDescription: description,
    StateValue: state,
    StateTransitionedTimestamp: since / 1000,
    EvaluationPeriods: evaluationPeriods,
    ...(taken === "alone"
      ? { Period: periodSeconds }
      : { Metrics: [{ Id: "m0", MetricStat: { Period: periodSeconds } }] }),
  };
}

function queriesOf({ MetricDataQueries }: JsonObject): readonly Query[] {
  return asList(MetricDataQueries).map((entry) => {
    const { Id, MetricStat } = asObject(entry);
    const { Metric, Period, Stat } = asObject(MetricStat);
    const { Namespace, MetricName, Dimensions } = asObject(Metric);
    const [dimension, ...others] = asList(Dimensions);
    const { Name, Value } = asObject(dimension);
    const of = { id: asString(Id), period: Number(Period) };
    const namespace = asString(Namespace);
    const isOfApi = namespace === "AWS/ApiGateway" && Name === "ApiId";
    const isOwn = !namespace.startsWith("AWS/");
    const percentile = isOwn ? /^p(\d{1,2}(?:\.\d+)?)$/.exec(asString(Stat)) : null;
    if ((isOfApi || isOwn) && others.length === 0 && (Stat === "Sum" || percentile !== null)) {
      const dimensions = dimension === undefined ? {} : { [asString(Name)]: asString(Value) };
      const percent = percentile === null ? undefined : Number(percentile[1]);
      return { ...of, counted: { namespace, name: asString(MetricName), dimensions }, percent };
    }
    const metric = queueMetricNames.find((each) => each === MetricName);
    const isMeasured = namespace === "AWS/SQS" && Name === "QueueName" && others.length === 0;
    if (metric === undefined || !isMeasured || Stat !== statisticOf(metric)) {
      throw new UnknownOperationError(
        "cloudwatch:GetMetricData",
        `the metric ${namespace} ${asString(MetricName)} ${asString(Stat)}; it measures, of AWS/SQS by ` +
          `QueueName: ${queueMetricNames.map((each) => `${each} ${statisticOf(each)}`).join(", ")}`,
      );
    }
    return { ...of, queueName: asString(Value), metric };
  });
}

function statisticOf(metric: QueueMetricName): "Maximum" | "Sum" {
  return metric === "ApproximateAgeOfOldestMessage" ? "Maximum" : "Sum";
}
