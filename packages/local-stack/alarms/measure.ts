/** Converts what the local services report into CloudWatch metrics. */

import type { Exchange } from "../api/http-api.ts";
import type { ApiPlan, FunctionPlan, MetricPlan, StackPlan } from "../assembly/plan.ts";
import type { FunctionCounts } from "../lambda/hosted-function.ts";
import type { SourceMetricName } from "../sources/batch-response.ts";
import type { Alarms } from "./alarms.ts";

/** Lambda's counter of this name; undefined for metrics that are not counters. */
export function functionTotal(counts: FunctionCounts, { name }: MetricPlan): number | undefined {
  const totals: Readonly<Record<string, number>> = {
    Invocations: counts.invocations,
    Errors: counts.errors,
    Throttles: counts.throttles,
  };
  return totals[name];
}

export function measureRequest(
  { status, route }: Exchange,
  { id, accessLog }: ApiPlan,
  alarms: Pick<Alarms, "record" | "onLine">,
): void {
  const names = ["Count", ...(status >= 500 ? ["5xx"] : status >= 400 ? ["4xx"] : [])];
  for (const name of names)
    alarms.record({ namespace: "AWS/ApiGateway", name, dimensions: { ApiId: id } }, 1);
  if (accessLog === undefined) return;
  alarms.onLine(accessLog.logGroupName, accessLogLine(accessLog.format, { route, status, time: Date.now() }));
}

/** IteratorAge is a metric of the function; event counts are metrics of the mapping. */
export function sourceMetric(
  name: SourceMetricName,
  source: Pick<StackPlan["sources"][number], "id">,
  target: Pick<FunctionPlan, "name">,
): MetricPlan {
  const dimensions: MetricPlan["dimensions"] =
    name === "IteratorAge" ? { FunctionName: target.name } : { EventSourceMappingUUID: source.id };
  return { namespace: "AWS/Lambda", name, dimensions };
}

/**
 * Formats an access-log line. `$context.` variables that are not supported here become "-", as variables
 * without a value do in AWS.
 * Source: API Gateway developer guide, "Customize HTTP API access logs".
 */
export function accessLogLine(
  format: string,
  {
    route,
    status,
    time,
  }: { readonly route: string | undefined; readonly status: number; readonly time: number },
): string {
  const known: Readonly<Record<string, string | undefined>> = {
    "$context.routeKey": route,
    "$context.status": String(status),
    "$context.requestTimeEpoch": String(time),
  };
  return format.replace(/\$context\.[A-Za-z.]+/g, (name) => known[name] ?? "-");
}
