import { sumsOfLastDay } from "../../../adapters/aws/metric-points.ts";
import { fieldsOf, parseJson, textOf, textsOf } from "../../../domain/core/parse.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";

/** Events of the last 24 hours that the settings ignore, by name. */
export type IgnoredEvents = readonly { readonly name: string; readonly count: number }[];

/** @returns undefined if the settings ignore no events */
export async function ignoredEvents(
  { optionalOutput }: Pick<Deployment, "optionalOutput">,
  { cloudWatch }: Pick<Clients, "cloudWatch">,
  now: () => Date,
): Promise<IgnoredEvents | undefined> {
  const output = optionalOutput("IgnoredEvents");
  if (output === undefined) return undefined;
  const fields = fieldsOf(parseJson(output, "the output IgnoredEvents"), "IgnoredEvents");
  const names = textsOf(fields, "names");
  const Namespace = textOf(fields, "namespace");
  const metrics = names.map((Value) => {
    return { Namespace, MetricName: "EventsIgnored", Dimensions: [{ Name: "EventName", Value }] };
  });
  const counts = await sumsOfLastDay(cloudWatch, metrics, now());
  return names.map((name, index) => ({ name, count: counts[index] ?? 0 }));
}

export function ignoredText(events: IgnoredEvents): string {
  const counted = events.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count);
  if (counted.length === 0) return "none in 24h";
  return `${counted.map(({ name, count }) => `${name} ${count}`).join(", ")} in 24h`;
}

/** Requests of the last 24 hours to paths of no webhook kind. */
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
