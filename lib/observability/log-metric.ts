import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as logs from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { latencyMetrics } from "../../domain/event/events.ts";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { pipelineName } from "../instance.ts";
import { pascalCase } from "../names.ts";

/**
 * A metric of what a function logs: how often a code occurs, or the sum of a field. Functions that log the same code
 * share one metric, which costs as much as one of a single function.
 * @param code one of the catalogue in functions/runtime/log.ts
 * @param sum a field with a number, and the metric's name; `by` adds a dimension for a field with few values. A metric
 * with a dimension has no sum over all values
 */
export function metricOfLog(
  source: PipelineFunction,
  code: string,
  sum?: { readonly field: string; readonly name: string; readonly by?: Dimension },
): cloudwatch.Metric {
  const name = sum?.name ?? pascalCase(code.toLowerCase().replaceAll("_", "-"));
  return metricOfLines(
    source,
    source.logGroup,
    { field: "code", texts: [code] },
    { name, value: sum && `$.${sum.field}`, by: sum?.by },
  );
}

/** How often a function logs any of several codes. @param name of the metric */
export function metricOfCodes(
  source: PipelineFunction,
  name: string,
  codes: readonly string[],
): cloudwatch.Metric {
  return metricOfLines(source, source.logGroup, { field: "code", texts: codes }, { name });
}

/** A metric dimension whose value is a field of a line. */
type Dimension = { readonly dimension: string; readonly field: string };

/**
 * A metric of the lines of a log group that have one of the texts in a field.
 * @param value what a line adds: a number, or its field as `$.name`; default: 1
 */
export function metricOfLines(
  scope: Construct,
  logGroup: logs.ILogGroup,
  { field, texts }: { readonly field: string; readonly texts: readonly string[] },
  {
    name,
    value = "1",
    by,
  }: {
    readonly name: string;
    readonly value?: string | undefined;
    readonly by?: Dimension | undefined;
  },
): cloudwatch.Metric {
  const id = `${name}Metric`;
  const namespace = pipelineName(scope);
  // Both the dashboard and the app may request it.
  if (scope.node.tryFindChild(id) === undefined) {
    new logs.MetricFilter(scope, id, {
      logGroup,
      filterPattern: anyOf(texts.map((text) => logs.FilterPattern.stringValue(`$.${field}`, "=", text))),
      metricNamespace: namespace,
      metricName: name,
      metricValue: value,
      ...(by && { dimensions: { [by.dimension]: `$.${by.field}` } }),
    });
  }
  return new cloudwatch.Metric({ namespace, metricName: name, statistic: "Sum" }).attachTo(scope);
}

function anyOf(patterns: readonly logs.JsonPattern[]): logs.JsonPattern {
  const [first, ...others] = patterns;
  if (first === undefined) throw new Error("A filter of no text");
  return others.length === 0 ? first : logs.FilterPattern.any(...patterns);
}

/** One metric of a code that several functions log; see `metricOfLog`. */
export function sameMetric(
  sources: readonly PipelineFunction[],
  code: string,
  sum?: Parameters<typeof metricOfLog>[2],
): cloudwatch.Metric {
  const [metric] = sources.map((source) => metricOfLog(source, code, sum));
  if (metric === undefined) throw new Error(`No function logs ${code}`);
  return metric;
}

/** Number of events that were stored, without duplicates. */
export function eventsStored(stores: readonly PipelineFunction[]): cloudwatch.Metric {
  return sameMetric(stores, "EVENT_STORED", { field: "count", name: "EventsStored" });
}

/** A percentile of a metric that functions write in embedded metric format, with their environment's METRICS_NAMESPACE. */
export function latencyMetric(
  scope: Construct,
  latency: keyof typeof latencyMetrics,
  statistic: "p50" | "p99",
): cloudwatch.Metric {
  const namespace = pipelineName(scope);
  return new cloudwatch.Metric({ namespace, metricName: latencyMetrics[latency], statistic }).attachTo(scope);
}
