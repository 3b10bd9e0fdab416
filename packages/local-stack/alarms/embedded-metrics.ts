import { z } from "zod";
import type { MetricPlan } from "../assembly/plan.ts";
import { fieldsOfLine } from "../gateway/operation.ts";

const directive = z.object({
  Namespace: z.string().min(1),
  Dimensions: z.array(z.array(z.string()).max(30)).min(1),
  Metrics: z.array(z.object({ Name: z.string().min(1), Unit: z.string().optional() })).max(100),
});
const metadata = z.object({ Timestamp: z.number(), CloudWatchMetrics: z.array(directive) });
const target = z.union([z.number(), z.array(z.number()).max(100)]);

export type EmbeddedMetric = { readonly metric: MetricPlan; readonly values: readonly number[] };

/**
 * Parses the metrics of a line in embedded metric format; a document that breaks a rule has none.
 * Source: CloudWatch user guide, "Specification: Embedded metric format".
 */
export function embeddedMetricsIn(line: string): readonly EmbeddedMetric[] {
  if (!line.includes('"_aws"')) return [];
  const fields = fieldsOfLine(line);
  const parsed = metadata.safeParse(fields._aws);
  if (!parsed.success) return [];
  const found = parsed.data.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Metrics.flatMap(({ Name: name }) => {
      const values = target.safeParse(fields[name]);
      return Dimensions.map((keys) => {
        const dimensions = z.record(z.string(), z.string()).safeParse(pick(fields, keys));
        if (!values.success || !dimensions.success) return undefined;
        const metric = { namespace, name, dimensions: dimensions.data };
        return { metric, values: [values.data].flat() };
      });
    }),
  );
  const valid = found.filter((each) => each !== undefined);
  return valid.length === found.length ? valid : [];
}

function pick(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): object {
  return Object.fromEntries(keys.map((key) => [key, fields[key]]));
}
