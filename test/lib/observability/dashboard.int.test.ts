import { describe, expect, it } from "vitest";
import { z } from "zod";
import { latencyMetrics } from "../../../domain/event/events.ts";
import { nameOf, productionSettings, type Synthesized, synthesized } from "../synthesized.ts";

const production = synthesized({ ...productionSettings, dashboard: true });
const widget = z.object({
  type: z.string(),
  y: z.number(),
  properties: z.object({
    title: z.string().optional(),
    markdown: z.string().optional(),
    metrics: z.array(z.array(z.unknown())).default([]),
  }),
});
const reference = z.union([
  z.object({ Ref: z.string() }),
  z.object({ "Fn::GetAtt": z.tuple([z.string(), z.string()]) }),
]);

/** The body as CloudWatch gets it, with logical ids in place of names. */
function widgetsOf(stack: Synthesized) {
  const [dashboard] = stack.ofType("AWS::CloudWatch::Dashboard");
  const body = z
    .object({ "Fn::Join": z.tuple([z.literal(""), z.array(z.unknown())]) })
    .parse(dashboard?.Properties.DashboardBody);
  const text = body["Fn::Join"][1].map((part) => {
    if (typeof part === "string") return part;
    const found = reference.parse(part);
    return "Ref" in found ? found.Ref : found["Fn::GetAtt"][0];
  });
  return z.object({ widgets: z.array(widget) }).parse(JSON.parse(text.join(""))).widgets;
}

const widgets = widgetsOf(production);
const series = widgets
  .flatMap(({ properties }) => properties.metrics)
  .filter(([first]) => typeof first === "string")
  .map((entry) => entry.filter((part): part is string => typeof part === "string"));

/** Metrics of AWS's services by dimension, with the type of the resource that it names. */
const serviceMetrics: Readonly<Record<string, readonly [type: string, names: readonly string[]]>> = {
  "AWS/ApiGateway ApiId": ["AWS::ApiGatewayV2::Api", ["Count", "4xx", "5xx", "Latency"]],
  "AWS/Lambda FunctionName": ["AWS::Lambda::Function", ["IteratorAge", "Throttles"]],
  "AWS/Lambda EventSourceMappingUUID": ["AWS::Lambda::EventSourceMapping", ["InvokedEventCount"]],
  "AWS/DynamoDB TableName": ["AWS::DynamoDB::GlobalTable", ["ReadThrottleEvents", "WriteThrottleEvents"]],
  "AWS/SQS QueueName": [
    "AWS::SQS::Queue",
    [
      "ApproximateAgeOfOldestMessage",
      "ApproximateNumberOfMessagesVisible",
      "ApproximateNumberOfMessagesNotVisible",
      "NumberOfMessagesSent",
      "NumberOfMessagesDeleted",
    ],
  ],
};

/** Functions that log metrics. */
const writers = new Map<string, string>([
  [latencyMetrics.toSubscriber, "RelayChangesFunction"],
  [latencyMetrics.toDocument, "FetchDataFunction"],
]);

describe("the dashboard", () => {
  it("is one, with a row for each step of the data's way, in its order", () => {
    expect(production.ofType("AWS::CloudWatch::Dashboard")).toHaveLength(1);
    const headings = widgets.flatMap(
      ({ properties }) => /^## (.+)$/m.exec(properties.markdown ?? "")?.[1] ?? [],
    );
    expect(headings).toEqual(["Received", "Stored", "Relayed", "Fetched", "Delivered", "Failures"]);
    const rows = widgets.map(({ y }) => y);
    expect(rows).toEqual(rows.toSorted((a, b) => a - b));
    expect(widgets[0]?.properties.markdown).toContain("docs/operate/runbook.md");
  });

  it("shows only existing metrics: of its filters, its functions, or AWS's services for its resources", () => {
    expect(series.length).toBeGreaterThan(40);
    const filters = production
      .ofType("AWS::Logs::MetricFilter")
      .map(({ Properties }) => JSON.stringify(Properties));
    for (const [namespace = "", name = "", dimension, value] of series) {
      if (dimension === undefined) {
        expect(namespace).toBe("income-events-test");
        const writer = writers.get(name);
        if (writer !== undefined) {
          expect(production.withId(writer).Properties.Environment).toMatchObject({
            Variables: { METRICS_NAMESPACE: namespace },
          });
          continue;
        }
        expect(
          filters.some((text) => text.includes(`"MetricName":"${name}"`)),
          name,
        ).toBe(true);
        continue;
      }
      const [type, names] = serviceMetrics[`${namespace} ${dimension}`] ?? [];
      expect(names, `${namespace} ${dimension} ${name}`).toContain(name);
      expect(production.resources.find(({ id }) => id === value)?.Type, `${name} of ${value}`).toBe(type);
    }
  });

  it("shows both latencies, half and 99 of 100 of them", () => {
    const shown = JSON.stringify(widgets.flatMap(({ properties }) => properties.metrics));
    for (const name of Object.values(latencyMetrics))
      for (const stat of ["p50", "p99"])
        expect(shown).toMatch(new RegExp(`"income-events-test","${name}",\\{[^}]*"stat":"${stat}"`));
  });

  it("comes with the filters that only it reads", () => {
    const filtersOf = (stack: Synthesized) => stack.ofType("AWS::Logs::MetricFilter").map(({ id }) => id);
    const plain = synthesized(productionSettings);
    expect(plain.ofType("AWS::CloudWatch::Dashboard")).toEqual([]);
    const [without, all] = [filtersOf(plain), filtersOf(production)];
    expect(all).toEqual(expect.arrayContaining(without));
    const added = all
      .filter((id) => !without.includes(id))
      .map((id) => /([A-Z][a-z]+){2}(?=Metric)/.exec(id));
    expect([...new Set(added.map((found) => found?.[0]))].sort()).toEqual([
      "DuplicateEvents",
      "MessageRejected",
      "TaskDone",
      "WebhookAccepted",
    ]);
  });

  it("has of each queue its dead letters, and of each that feeds a function its age", () => {
    const of = (metric: string) =>
      series.filter(([, name]) => name === metric).map(([, , , queue = ""]) => nameOf(queue));
    const queues = production.ofType("AWS::SQS::Queue").map(({ id }) => nameOf(id));
    expect(of("ApproximateNumberOfMessagesVisible")).toEqual(
      expect.arrayContaining(queues.filter((name) => name.endsWith("DeadLetters"))),
    );
    expect(of("ApproximateAgeOfOldestMessage").sort()).toEqual(
      queues.filter((name) => !name.endsWith("DeadLetters") && !name.startsWith("Erasure")).sort(),
    );
  });
});
