import { Stack } from "aws-cdk-lib";
import type * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import * as logs from "aws-cdk-lib/aws-logs";
import { pascalCase } from "./names.ts";
import type { PipelineFunction } from "./pipeline-function.ts";

/**
 * A metric of what a function logs: how often a code comes, or the sum of a field of its lines.
 * @param code one of the catalogue in functions/runtime/log.ts
 * @param sum a field that holds a number, and the metric's name
 */
export function metricOfLog(
  source: PipelineFunction,
  code: string,
  sum?: { readonly field: string; readonly name: string },
): cloudwatch.Metric {
  const name = sum?.name ?? pascalCase(code.toLowerCase().replaceAll("_", "-"));
  const filter = new logs.MetricFilter(source, `${name}Metric`, {
    logGroup: source.logGroup,
    filterPattern: logs.FilterPattern.stringValue("$.code", "=", code),
    metricNamespace: Stack.of(source).stackName,
    metricName: name,
    metricValue: sum === undefined ? "1" : `$.${sum.field}`,
  });
  return filter.metric({ statistic: "Sum" });
}
