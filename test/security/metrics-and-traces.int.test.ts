import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bundle } from "../../lib/function/bundle.ts";
import { productionSettings, synthesized } from "../lib/synthesized.ts";

const stack = synthesized({ ...productionSettings, tracing: "service" });
const repository = join(import.meta.dirname, "../..");

/** Log fields with a number or one of a few fixed words: see functions/runtime/log.ts. */
const counts = [
  "attempts",
  "conflicting",
  "count",
  "deleted",
  "delayInSeconds",
  "drift",
  "listed",
  "missing",
  "remainingInSeconds",
  "reread",
];
const words = ["code", "function", "kind", "level", "queue", "subscriber"];
/** The operator's words: the name of an event that the settings ignore, or `other`. */
const wordsOfSettings = ["name"];

const filterProperties = z.object({
  MetricTransformations: z.array(
    z.looseObject({
      MetricName: z.string(),
      MetricValue: z.string(),
      Dimensions: z.array(z.object({ Key: z.string(), Value: z.string() })).default([]),
    }),
  ),
});

describe("personal data and secrets in metrics and traces", () => {
  it("metrics are made of numbers in log lines, and of words of ours", () => {
    const made = stack
      .ofType("AWS::Logs::MetricFilter")
      .flatMap(({ Properties }) => filterProperties.parse(Properties).MetricTransformations);
    expect(made.length).toBeGreaterThan(3);
    for (const { MetricName, MetricValue, Dimensions } of made) {
      expect(MetricName).toMatch(/^\w+$/);
      expect(["0", "1", ...counts.map((field) => `$.${field}`)]).toContain(MetricValue);
      for (const { Value } of Dimensions)
        expect([...words, ...wordsOfSettings].map((field) => `$.${field}`)).toContain(Value);
    }
    // No function sends metrics itself.
    expect(stack.text).not.toContain("cloudwatch:PutMetricData");
  });

  it("traces are Lambda's own: nothing of ours or of an agent adds to them", async () => {
    const functions = stack.ofType("AWS::Lambda::Function");
    expect(functions.length).toBeGreaterThan(10);
    for (const { id, Properties } of functions) {
      expect(Properties, id).not.toHaveProperty("Layers");
      expect(JSON.stringify(Properties.Environment ?? {}), id).not.toMatch(/EXEC_WRAPPER|OTEL|XRAY/);
    }
    for (const entry of [
      "functions/receive/webhooks.ts",
      "functions/fetch/data.ts",
      "functions/relay/changes.ts",
    ]) {
      const files = [...(await bundle(repository, entry)).files].filter(([name]) => !name.endsWith(".map"));
      const code = Buffer.concat(files.map(([, content]) => content)).toString("utf8");
      expect(code.length, entry).toBeGreaterThan(1_000);
      expect(code.includes("putAnnotation") || code.includes("opentelemetry"), entry).toBe(false);
    }
  });
});
