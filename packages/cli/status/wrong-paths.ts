import { sumsOfLastDay } from "../../../adapters/aws/metric-points.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";

/** Requests of the last 24 hours to the webhooks' address by paths that lead to no kind. */
export async function wrongPaths(
  { output }: Pick<Deployment, "output">,
  { cloudWatch }: Pick<Clients, "cloudWatch">,
  now: () => Date,
): Promise<number> {
  const metric = { Namespace: output("MetricsNamespace"), MetricName: "WebhookWrongPath" };
  const [count = 0] = await sumsOfLastDay(cloudWatch, [metric], now());
  return count;
}

export function wrongPathsText(count: number): string {
  return count === 0 ? "none in 24h" : `${count} requests in 24h led to no kind: see the access log`;
}
