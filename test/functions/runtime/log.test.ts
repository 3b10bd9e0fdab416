import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { permanent } from "../../../domain/core/failures.ts";
import { loggedText, nameOf } from "../../../domain/event/subjects.ts";
import { log, logged, sanitizeErrors } from "../../../functions/runtime/log.ts";
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
  // A sample of the whole batch, not only of its beginning.
  expect(fields.WebhookToSubscriber).toHaveLength(100);
  expect(fields.WebhookToSubscriber.slice(0, 3)).toEqual([0, 2, 5]);
  expect(fields.WebhookToSubscriber.at(-1)).toBe(247);
  expect(fields.latencies).toBeUndefined();
});

it("a line has no id of a user or account but a digest, which is the same for a UUID in upper case", () => {
  const user = { kind: "user", id: "5e8f6a3c-0d0b-4a6e-9f83-2f1f6a7f3a01" } as const;
  const account = { kind: "account", id: "a/b" } as const;
  log("TASK_DONE", { subject: user });
  log("EVENT_STORED", { subjects: [{ subject: account, endpoint: "income" }, { subject: user }] });
  const line = z.object({
    subject: z.string().exactOptional(),
    subjects: z.array(z.string()).exactOptional(),
  });
  const [first, second] = written.map((text) => line.parse(JSON.parse(text)));
  expect(first?.subject).toMatch(/^user\/[0-9a-f]{16}$/);
  expect(second?.subjects).toEqual([
    expect.stringMatching(/^account\/[0-9a-f]{16}\/income$/),
    first?.subject,
  ]);
  for (const id of [user.id, "a/b", "a%2Fb"]) expect(written.join("")).not.toContain(id);
  // A search for any of these finds the line.
  for (const text of [user.id, user.id.toUpperCase(), nameOf(user)])
    expect(first?.subject).toContain(loggedText(text));
  for (const text of ["a/b", nameOf(account), `${nameOf(account)}/income`])
    expect(second?.subjects?.[0]).toContain(loggedText(text));
});

async function thrownBy(error: unknown): Promise<unknown> {
  try {
    await sanitizeErrors(() => Promise.reject(error))();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

describe("a handler with its own reasons", () => {
  it("has the handler's input and output", async () => {
    const sum = sanitizeErrors(async (one: number, other: number) => one + other);
    expect(await sum(2, 3)).toBe(5);
  });

  it("throws our own failures as they are", async () => {
    const failure = permanent("the webhook secret is empty");
    expect(await thrownBy(failure)).toBe(failure);
  });

  it("reports only the name of any other error: neither message, nor stack, nor properties", async () => {
    const error = new ConditionalCheckFailedException({
      message: "canary",
      Item: { name: { S: "canary" } },
      $metadata: {},
    });
    for (const each of [error, new TypeError("canary"), "canary", { canary: 1 }]) {
      const thrown = Object(await thrownBy(each));
      expect(thrown.message).toBe(each instanceof Error ? each.name : "unknown");
      expect(JSON.stringify([thrown, thrown.stack, thrown.cause])).not.toContain("canary");
    }
  });
});
