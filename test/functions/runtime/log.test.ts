import { afterEach, expect, it, vi } from "vitest";
import { log, logged } from "../../../functions/runtime/log.ts";
import { context } from "../support/lambda.ts";

const written: string[] = [];
vi.spyOn(process.stdout, "write").mockImplementation((text) => {
  written.push(String(text));
  return true;
});
afterEach(() => {
  vi.unstubAllEnvs();
  written.splice(0);
});

it("a line is one JSON object with time, level, the invocation's id and then its fields", async () => {
  const handle = logged(async () => {
    log("EVENT_DUPLICATE", { kind: "users" });
    log("MESSAGE_REJECTED", { reason: "two\nlines" });
  });
  await handle(undefined, { ...context, awsRequestId: "the-first" });
  await handle(undefined, { ...context, awsRequestId: "the-second" });
  expect(written.map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]{12}Z/, "now"))).toEqual(
    ["the-first", "the-second"].flatMap((requestId) => [
      `{"timestamp":"now","level":"INFO","code":"EVENT_DUPLICATE","requestId":"${requestId}","kind":"users"}\n`,
      `{"timestamp":"now","level":"ERROR","code":"MESSAGE_REJECTED","requestId":"${requestId}","reason":"two\\nlines"}\n`,
    ]),
  );
});

it("latencies are one document in embedded metric format, of at most 100 values each", () => {
  vi.stubEnv("METRICS_NAMESPACE", "stage");
  log("RELAYED", {
    count: 250,
    latencies: { toSubscriber: Array.from({ length: 250 }, (_, index) => index), toDocument: [7] },
  });
  const [line = ""] = written;
  const { _aws: metadata, ...fields } = JSON.parse(line);
  const metricsOf = ["WebhookToSubscriber", "WebhookToDocument"].map((Name) => ({
    Name,
    Unit: "Milliseconds",
  }));
  expect(metadata).toEqual({
    Timestamp: Date.parse(fields.timestamp),
    CloudWatchMetrics: [{ Namespace: "stage", Dimensions: [[]], Metrics: metricsOf }],
  });
  expect(fields).toMatchObject({ code: "RELAYED", count: 250, WebhookToDocument: [7] });
  // A sample of all of the batch, not of its beginning.
  expect(fields.WebhookToSubscriber).toHaveLength(100);
  expect(fields.WebhookToSubscriber.slice(0, 3)).toEqual([0, 2, 5]);
  expect(fields.WebhookToSubscriber.at(-1)).toBe(247);
  expect(fields.latencies).toBeUndefined();
});
