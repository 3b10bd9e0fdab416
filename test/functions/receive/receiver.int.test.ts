import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { identify } from "../../../domain/event/envelope.ts";
import { canaryBody } from "../../../domain/event/events.ts";
import { eventOfBytes } from "../support/bad-input.ts";
import {
  account,
  call,
  goodSecret,
  noon,
  receiverFixture,
  secretHeader,
} from "../support/receiver-fixture.ts";

const fixture = receiverFixture();
const { receiverOf, queued, deadLetters, expectNothingKept } = fixture;

describe("an authentic webhook", () => {
  test.each(["POST", "PUT"])(
    "by %s is durable in the kind's queue before it is answered with 202",
    async (method) => {
      const body = JSON.stringify(account);
      expect(await call(receiverOf("accounts"), { method, body })).toEqual({ statusCode: 202 });
      expect(await queued()).toEqual([
        {
          schemaVersion: 1,
          kind: "accounts",
          id: identify("accounts", Buffer.from(body)),
          receivedAt: noon.toISOString(),
          body: { type: "text", text: body },
        },
      ]);
      expect(await fixture.system.drain(fixture.deadLetterQueueUrl)).toEqual([]);
    },
  );

  test("of the canary is durable too, and does not count as received", async () => {
    const body = canaryBody(randomUUID());
    expect(await call(receiverOf("users"), { body })).toEqual({ statusCode: 202 });
    expect((await queued()).map((envelope) => envelope.body)).toEqual([{ type: "text", text: body }]);
    expect(fixture.logged).toBe("");
    // A body that only resembles a canary is an ordinary webhook.
    await call(receiverOf("users"), { body: canaryBody("x".repeat(36)) });
    expect(fixture.logged).toContain("WEBHOOK_ACCEPTED");
  });

  test("carries the headers that the mapping reads, and no others", async () => {
    const mappedHeaders = ["ce-id", "ce-time"];
    const headers = { [secretHeader]: goodSecret, "ce-id": "e-1", "ce-type": "x", authorization: "canary" };
    await call(receiverOf("accounts", { mappedHeaders }), { headers });
    const [envelope] = await queued();
    expect(envelope?.headers).toEqual({ "ce-id": "e-1" });
  });

  test("may have no body if headers name the event; otherwise an empty body is invalid JSON", async () => {
    const headers = { [secretHeader]: goodSecret, "ce-id": "e-1" };
    await call(receiverOf("users", { mappedHeaders: ["ce-id"] }), { headers, body: undefined });
    expect((await queued()).map(({ body }) => body)).toEqual([{ type: "text", text: "null" }]);
    await call(receiverOf("users"), { headers, body: undefined });
    expect(await deadLetters()).toMatchObject([{ reason: expect.stringMatching(/^not JSON/) }]);
  });

  test("is inline up to the limit of an envelope, and in the bucket beyond it", async () => {
    const handler = receiverOf("accounts");
    const empty = { schemaVersion: 1, kind: "accounts", id: "x".repeat(43), receivedAt: noon.toISOString() };
    const frame = JSON.stringify({ ...empty, body: { type: "text", text: "" } }).length;
    const escapes = JSON.stringify(eventOfBytes(1_000)).length - 1_002;
    await call(handler, { body: eventOfBytes(380_000 - frame - escapes) });
    await call(handler, { body: eventOfBytes(380_001 - frame - escapes) });
    const [inline, pointer] = (await queued()).toSorted((a, b) => b.body.type.localeCompare(a.body.type));
    expect(inline?.body.type).toBe("text");
    expect(pointer?.body).toEqual({
      type: "object",
      encoding: "text",
      key: `bodies/accounts/${pointer?.id}`,
      bytes: 380_001 - frame - escapes,
    });
    expect(await fixture.bucket.keys()).toEqual([`bodies/accounts/${pointer?.id}`]);
  });
});

test.each<[string, boolean, number, string]>([
  ["GET", false, 405, "POST, PUT, OPTIONS"],
  ["HEAD", false, 405, "POST, PUT, OPTIONS"],
  ["OPTIONS", false, 204, "POST, PUT, OPTIONS"],
  ["DELETE", false, 405, "POST, PUT, OPTIONS"],
  ["GET", true, 200, "POST, PUT, GET, HEAD, OPTIONS"],
  ["HEAD", true, 200, "POST, PUT, GET, HEAD, OPTIONS"],
  ["OPTIONS", true, 204, "POST, PUT, GET, HEAD, OPTIONS"],
  ["DELETE", true, 405, "POST, PUT, GET, HEAD, OPTIONS"],
  ["PATCH", true, 405, "POST, PUT, GET, HEAD, OPTIONS"],
])(
  "another method has no effect, and is answered with what is allowed: %s, with webhooks.answerProbes %s: %s",
  async (method, answersProbes, statusCode, allow) => {
    const receive = receiverOf("accounts", { answersProbes });
    for (const headers of [{}, { [secretHeader]: goodSecret }])
      expect(await call(receive, { method, headers })).toMatchObject({ statusCode, headers: { allow } });
    await expectNothingKept();
    expect(fixture.logged).toBe("");
  },
);

describe("a webhook is answered with 503, so that the provider sends it again, where", () => {
  test.each<[string, unknown]>([
    ["the configured secret is empty", { current: "" }],
    ["no secret is configured", { placeholder: "x" }],
    ["the configured secret is no JSON", "plain text"],
    ["the configured secret is JSON of another shape", [goodSecret]],
  ])("%s", async (_, secret) => {
    const handler = receiverOf("accounts", { secret });
    for (const headers of [{}, { [secretHeader]: "" }, { [secretHeader]: goodSecret }]) {
      expect(await call(handler, { headers })).toMatchObject({ statusCode: 503 });
    }
    await expectNothingKept();
  });

  test.each([
    ["the queue can't be written to", "sqs:SendMessage", JSON.stringify(account)],
    ["the dead-letter queue can't be written to", "sqs:SendMessage", "no JSON"],
    ["the overflow bucket can't be written to", "s3:PutObject", eventOfBytes(500_000)],
    ["the secret can't be read", "secretsmanager:GetSecretValue", JSON.stringify(account)],
  ])("%s; and accepted once that works again", async (_, action, body) => {
    const handler = receiverOf("accounts");
    const working = fixture.system.fail(action);
    expect(await call(handler, { body })).toMatchObject({
      statusCode: 503,
      headers: { "retry-after": "30" },
    });
    working();
    await expectNothingKept();
    expect(await call(handler, { body })).toMatchObject({ statusCode: 202 });
    expect(
      (await fixture.system.drain(fixture.queueUrl)).length +
        (await fixture.system.drain(fixture.deadLetterQueueUrl)).length,
    ).toBe(1);
  });
});
