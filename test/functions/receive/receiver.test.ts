import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { parseSourceAddresses } from "../../../domain/core/source-addresses.ts";
import { parseWebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { type Envelope, readEnvelope } from "../../../domain/event/envelope.ts";
import type { Kind } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import { receiver } from "../../../functions/receive/receiver.ts";
import { log } from "../../../functions/runtime/log.ts";
import { startTestSystem, type TestBucket, type TestSystem } from "../../support/engines.ts";
import { badInputs, eventOfBytes, rawOf } from "../support/bad-input.ts";
import { context, type HttpHandler, httpEvent, type Request } from "../support/lambda.ts";

const secretHeader = "x-webhook-secret";
const goodSecret = "s3cret-of-the-webhook";
const noon = new Date("2026-11-21T12:00:00Z");
const account = {
  event: "connect_account",
  account_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
  connected: true,
};

let system: TestSystem;
let queueUrl: string;
let deadLetterQueueUrl: string;
let bucket: TestBucket;
let logged: string;

beforeAll(async () => {
  system = await startTestSystem();
});
afterAll(() => system.close());

beforeEach(async () => {
  [queueUrl, deadLetterQueueUrl, bucket] = await Promise.all([
    system.createQueue(),
    system.createQueue(),
    system.createBucket(),
  ]);
  logged = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    logged += String(chunk);
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

function receiverOf(
  kind: Kind,
  {
    secret = { current: goodSecret } as unknown,
    now = () => noon,
    sourceAddresses = undefined as unknown,
    maxBodyBytes = 6 * 1024 * 1024,
    mappedHeaders = [] as readonly string[],
  } = {},
): HttpHandler {
  return receiver(kind, {
    send: sqsSender(system.sqs),
    overflow: overflowBucket(bucket.name),
    queueUrl,
    deadLetterQueueUrl,
    secretHeader: "X-Webhook-Secret",
    isAllowedSource: parseSourceAddresses(sourceAddresses),
    maxBodyBytes,
    mappedHeaders,
    readSecret: secretReader(system.secretsManager, system.createSecret(secret), parseWebhookSecret, { now })
      .read,
    now,
    log,
  });
}

function call(handler: HttpHandler, request: Request = {}) {
  return handler(
    httpEvent({ headers: { [secretHeader]: goodSecret }, body: JSON.stringify(account), ...request }),
    context,
  );
}

async function queued(): Promise<readonly Envelope[]> {
  return (await system.drain(queueUrl)).map(({ Body = "" }) => readEnvelope(Body));
}

async function deadLetters(): Promise<readonly { envelope: Envelope; reason: string | undefined }[]> {
  const messages = await system.drain(deadLetterQueueUrl);
  return messages.map(({ Body = "", MessageAttributes }) => ({
    envelope: readEnvelope(Body),
    reason: MessageAttributes?.reason?.StringValue,
  }));
}

async function expectNothingKept(): Promise<void> {
  expect(await system.drain(queueUrl)).toEqual([]);
  expect(await system.drain(deadLetterQueueUrl)).toEqual([]);
  expect(await bucket.keys()).toEqual([]);
}

async function bytesOf({ body }: Envelope): Promise<Buffer> {
  switch (body.as) {
    case "text":
      return Buffer.from(body.text);
    case "base64":
      return Buffer.from(body.base64, "base64");
    case "object": {
      const content = await bucket.bytes(body.key);
      return body.of === "base64" ? Buffer.from(content.toString(), "base64") : content;
    }
    case "withheld":
      return Buffer.alloc(body.bytes);
    case "facts":
      throw new Error("a receiver writes no facts");
  }
}

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
          body: { as: "text", text: body },
        },
      ]);
      expect(await system.drain(deadLetterQueueUrl)).toEqual([]);
    },
  );

  test("has an identity of its kind and its raw bytes", async () => {
    const body = JSON.stringify(account);
    await call(receiverOf("accounts"), { body });
    await call(receiverOf("company-accounts"), { body });
    await call(receiverOf("accounts"), { body: `${body} ` });
    await call(receiverOf("accounts"), { body: Buffer.from(body) });
    const ids = (await queued()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  test("carries the headers that the mapping reads, and no others", async () => {
    const mappedHeaders = ["ce-id", "ce-time"];
    const headers = { [secretHeader]: goodSecret, "ce-id": "e-1", "ce-type": "x", authorization: "canary" };
    await call(receiverOf("accounts", { mappedHeaders }), { headers });
    const [envelope] = await queued();
    expect(envelope?.headers).toEqual({ "ce-id": "e-1" });
  });

  test("of the same bytes is another event where such a header differs, and a retry where none does", async () => {
    const handler = receiverOf("accounts", { mappedHeaders: ["ce-id"] });
    const send = (id: string, more = {}) =>
      call(handler, { headers: { [secretHeader]: goodSecret, "ce-id": id, ...more } });
    await send("e-1");
    await send("e-2");
    await send("e-1", { "x-attempt": "2" });
    const ids = (await queued()).map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(2);
  });

  test("may have no body where headers tell the event; elsewhere none is no JSON", async () => {
    const headers = { [secretHeader]: goodSecret, "ce-id": "e-1" };
    await call(receiverOf("users", { mappedHeaders: ["ce-id"] }), { headers, body: undefined });
    expect((await queued()).map(({ body }) => body)).toEqual([{ as: "text", text: "null" }]);
    await call(receiverOf("users"), { headers, body: undefined });
    expect(await deadLetters()).toMatchObject([{ reason: expect.stringMatching(/^not JSON/) }]);
  });

  test("travels inline up to the limit of an envelope, and beyond it lies in the bucket", async () => {
    const handler = receiverOf("accounts");
    const empty = { schemaVersion: 1, kind: "accounts", id: "x".repeat(43), receivedAt: noon.toISOString() };
    const frame = JSON.stringify({ ...empty, body: { as: "text", text: "" } }).length;
    const escapes = JSON.stringify(eventOfBytes(1_000)).length - 1_002;
    await call(handler, { body: eventOfBytes(380_000 - frame - escapes) });
    await call(handler, { body: eventOfBytes(380_001 - frame - escapes) });
    const [inline, pointer] = (await queued()).toSorted((a, b) => b.body.as.localeCompare(a.body.as));
    expect(inline?.body.as).toBe("text");
    expect(pointer?.body).toEqual({
      as: "object",
      of: "text",
      key: `bodies/accounts/${pointer?.id}`,
      bytes: 380_001 - frame - escapes,
    });
    expect(await bucket.keys()).toEqual([`bodies/accounts/${pointer?.id}`]);
  });
});

describe("bad input is accepted, and kept byte for byte where it can be read or looked into:", () => {
  test.each(badInputs)("$name", async ({ kind, body, unreadable }) => {
    expect(await call(receiverOf(kind), { body })).toEqual({ statusCode: 202 });
    const raw = rawOf(body);
    const [envelopes, letters] = [await queued(), await deadLetters()];
    const kept = unreadable === undefined ? envelopes : letters.map(({ envelope }) => envelope);
    expect(envelopes.length + letters.length).toBe(1);
    expect(kept).toMatchObject([{ kind, id: identify(kind, raw) }]);
    if (unreadable !== undefined) expect(letters[0]?.reason).toMatch(unreadable);
    if (kept[0] !== undefined && kind !== "users") expect((await bytesOf(kept[0])).equals(raw)).toBe(true);
  });

  test("a users' body of depth 10,000 is answered with 202 and ends in one of the two queues", async () => {
    const body = `{"action":"create_user","data":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    expect(await call(receiverOf("users"), { body })).toEqual({ statusCode: 202 });
    expect((await queued()).length + (await deadLetters()).length).toBe(1);
  });

  test("one warm receiver takes all of them in a row, refusals and failures between them, and still works", async () => {
    const handler = receiverOf("accounts");
    const accounts = badInputs.filter(({ kind }) => kind === "accounts");
    for (const { body } of accounts) {
      expect(await call(handler, { body })).toMatchObject({ statusCode: 202 });
      expect(await call(handler, { body, headers: {} })).toMatchObject({ statusCode: 401 });
      expect(await call(handler, { body, method: "DELETE" })).toMatchObject({ statusCode: 405 });
    }
    const working = system.fail("sqs:SendMessageBatch");
    expect(await call(handler)).toMatchObject({ statusCode: 503 });
    working();
    expect(await call(handler)).toMatchObject({ statusCode: 202 });
    const unreadable = accounts.filter((input) => input.unreadable !== undefined).length;
    expect(await deadLetters()).toHaveLength(unreadable);
    expect(await queued()).toHaveLength(accounts.length - unreadable + 1);
  });
});

describe("a webhook is refused with 401, and nothing of it is kept, where its secret is", () => {
  test.each<[string, Record<string, string>]>([
    ["missing", {}],
    ["in another header", { "x-other": goodSecret }],
    ["empty", { [secretHeader]: "" }],
    ["wrong", { [secretHeader]: goodSecret.replace("s3", "S3") }],
    ["shorter", { [secretHeader]: goodSecret.slice(0, -1) }],
    ["longer", { [secretHeader]: `${goodSecret}x` }],
    ["a megabyte long", { [secretHeader]: "x".repeat(1_000_000) }],
    ["not ASCII", { [secretHeader]: "s3cret-öf-the-webhoök" }],
    ["not ASCII, as bytes of latin1", { [secretHeader]: "\u00e9\u00ff" }],
    ["repeated", { [secretHeader]: `${goodSecret},${goodSecret}` }],
    ["repeated with a space", { [secretHeader]: `${goodSecret}, wrong` }],
  ])("%s", async (_, headers) => {
    const answer = await call(receiverOf("accounts"), { headers });
    expect(answer).toMatchObject({ statusCode: 401, body: '{"message":"unauthorized"}' });
    await expectNothingKept();
  });
});

describe("where a signing secret is set", () => {
  const signing = "signing-secret";
  const secret = { current: goodSecret, signing };
  // A byte that is no UTF-8, so that the text of the body has another signature than its bytes.
  const body = Buffer.concat([Buffer.from(JSON.stringify(account)), Buffer.from([0x20, 0xff])]);
  const sign = (bytes: Buffer, key = signing) => createHmac("sha512", key).update(bytes).digest("base64");
  const send = (signature: string | undefined, sent = body) => {
    const signed = signature === undefined ? {} : { "x-signature": signature };
    const handler = receiverOf("accounts", { secret });
    return call(handler, { body: sent, headers: { [secretHeader]: goodSecret, ...signed } });
  };

  test("a body that is signed with it is accepted: HMAC-SHA512 over the raw bytes, in base64", async () => {
    expect(await send(sign(body))).toMatchObject({ statusCode: 202 });
  });

  test.each<[string, string | undefined]>([
    ["missing", undefined],
    ["empty", ""],
    ["of another key", sign(body, "other")],
    ["of another body", sign(Buffer.from("{}"))],
    ["of the body as text", sign(Buffer.from(body.toString("utf8")))],
    ["in hex", createHmac("sha512", signing).update(body).digest("hex")],
    ["cut off", sign(body).slice(0, -4)],
    ["repeated", `${sign(body)},${sign(body)}`],
  ])("one whose signature is %s is refused with 401, and nothing is kept", async (_, signature) => {
    expect(await send(signature)).toMatchObject({ statusCode: 401, body: '{"message":"unauthorized"}' });
    await expectNothingKept();
  });

  test("a good signature does not stand in for the secret header", async () => {
    const handler = receiverOf("accounts", { secret });
    const answer = await call(handler, { body, headers: { "x-signature": sign(body) } });
    expect(answer).toMatchObject({ statusCode: 401 });
  });

  test("the signature is that of what was sent: of users' credentials too, which are dropped after it", async () => {
    const sent = Buffer.from(JSON.stringify({ action: "create_user", data: { id: "u", link: "https://x" } }));
    const headers = { [secretHeader]: goodSecret, "x-signature": sign(sent) };
    const answer = await call(receiverOf("users", { secret }), { body: sent, headers });
    expect(answer).toMatchObject({ statusCode: 202 });
    expect(JSON.stringify(await queued())).not.toContain("https://x");
  });
});

describe("where source addresses are set", () => {
  const sourceAddresses = ["203.0.113.0/24", "127.0.0.1"];

  test("a webhook from one of them is accepted", async () => {
    expect(await call(receiverOf("accounts", { sourceAddresses }))).toMatchObject({ statusCode: 202 });
  });

  test("one from elsewhere is refused with 403 before its secret is looked at, and nothing is kept", async () => {
    const handler = receiverOf("accounts", { sourceAddresses: ["203.0.113.0/24"] });
    expect(await call(handler)).toMatchObject({ statusCode: 403, body: '{"message":"forbidden"}' });
    expect(logged).toContain('"reason":"source address"');
    await expectNothingKept();
  });
});

describe("a body", () => {
  const maxBodyBytes = 1_024;
  // Two bytes each, so that characters are not what is counted.
  const ofBytes = (bytes: number) => `"${"é".repeat((bytes - 2) / 2)}"`;

  test("of the limit is accepted, as text and in base64", async () => {
    const handler = receiverOf("accounts", { maxBodyBytes });
    expect(await call(handler, { body: ofBytes(1_024) })).toMatchObject({ statusCode: 202 });
    expect(await call(handler, { body: Buffer.from(ofBytes(1_024)) })).toMatchObject({ statusCode: 202 });
  });

  test.each([
    ["as text", ofBytes(1_026)],
    ["in base64", Buffer.from(ofBytes(1_026))],
  ])(
    "over the limit is refused with 413, %s, before the secret is read, and nothing is kept",
    async (_, body) => {
      const working = system.fail("secretsmanager:GetSecretValue");
      const answer = await call(receiverOf("accounts", { maxBodyBytes }), { body });
      working();
      expect(answer).toMatchObject({ statusCode: 413, body: '{"message":"body too large"}' });
      expect(logged).toContain('"reason":"body size"');
      await expectNothingKept();
    },
  );
});

describe("during a rotation", () => {
  const until = "2026-11-24T12:00:00.000Z";
  const secret = { current: goodSecret, previous: "the-old-one", previousUntil: until };

  test.each([
    ["the previous secret is valid before its end", "the-old-one", "2026-11-24T11:59:59.999Z", 202],
    ["the previous secret is invalid from its end on", "the-old-one", until, 401],
    ["the current secret is valid at any time", goodSecret, until, 202],
  ])("%s", async (_, value, time, statusCode) => {
    const handler = receiverOf("accounts", { secret, now: () => new Date(time) });
    expect(await call(handler, { headers: { [secretHeader]: value } })).toMatchObject({ statusCode });
  });
});

test.each(["GET", "DELETE", "PATCH", "HEAD", "OPTIONS"])(
  "%s is answered with 405 and what is allowed",
  async (method) => {
    expect(await call(receiverOf("accounts"), { method })).toMatchObject({
      statusCode: 405,
      headers: { allow: "POST, PUT" },
    });
    await expectNothingKept();
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
    ["the queue can't be written to", "sqs:SendMessageBatch", JSON.stringify(account)],
    ["the dead-letter queue can't be written to", "sqs:SendMessageBatch", "no JSON"],
    ["the overflow bucket can't be written to", "s3:PutObject", eventOfBytes(500_000)],
    ["the secret can't be read", "secretsmanager:GetSecretValue", JSON.stringify(account)],
  ])("%s; and accepted once that works again", async (_, action, body) => {
    const handler = receiverOf("accounts");
    const working = system.fail(action);
    expect(await call(handler, { body })).toMatchObject({
      statusCode: 503,
      headers: { "retry-after": "30" },
    });
    working();
    await expectNothingKept();
    expect(await call(handler, { body })).toMatchObject({ statusCode: 202 });
    expect((await system.drain(queueUrl)).length + (await system.drain(deadLetterQueueUrl)).length).toBe(1);
  });
});

describe("live credentials of users", () => {
  const canary = "canary-4711";
  const data = {
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    accounts_number: 12345678901234567890n,
    link: `https://connect.example/${canary}`,
    session: { token: canary, deep: [{ link: canary, session: canary }] },
    session_expires_at: "2026-11-21 13:00:00 UTC",
    accounts: [{ link: canary, name: "kept" }],
  };
  const text = (filler = "") =>
    JSON.stringify({ action: "create_user", session: canary, data, filler }, (_, value) =>
      typeof value === "bigint" ? JSON.rawJSON(String(value)) : value,
    );

  test.each<[string, string | Buffer]>([
    ["a body", text()],
    ["a base64-encoded body", Buffer.from(text())],
    ["a body whose field names are escaped", text().replaceAll('"link"', '"l\\u0069nk"')],
    ["a body that goes to the bucket", text("x".repeat(500_000))],
    ["a body that breaks off", text().slice(0, -1)],
    ["a body that breaks off within a credential", text().slice(0, text().indexOf(canary) + canary.length)],
    ["a body that is no UTF-8", Buffer.concat([Buffer.from(text()), Buffer.from([0xff])])],
    ["a large body that breaks off", text("x".repeat(500_000)).slice(0, -1)],
    [
      "a body that is nested too deeply",
      `${text().slice(0, -1)},"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    ],
    ["a body that is only a credential", JSON.stringify(canary).slice(0, -1)],
  ])("are neither queued nor kept nor logged: %s", async (_, body) => {
    expect(await call(receiverOf("users"), { body })).toEqual({ statusCode: 202 });
    const messages = [...(await system.drain(queueUrl)), ...(await system.drain(deadLetterQueueUrl))];
    const keys = await bucket.keys();
    const objects = await Promise.all(keys.map((key) => bucket.bytes(key)));
    expect(messages).toHaveLength(1);
    const kept = [JSON.stringify(messages), ...keys, ...objects.map(String), logged].join("\n");
    expect(kept).not.toContain(canary);
    expect(kept).not.toContain(Buffer.from(canary).toString("base64").slice(0, 12));
  });

  test("are all that is dropped: other fields stay, and numbers keep their digits", async () => {
    await call(receiverOf("users"), { body: text() });
    const [envelope] = await queued();
    expect(envelope?.id).toBe(identify("users", Buffer.from(text())));
    expect(envelope?.body).toEqual({
      as: "text",
      text:
        '{"action":"create_user","data":{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7",' +
        '"accounts_number":12345678901234567890,"session_expires_at":"2026-11-21 13:00:00 UTC",' +
        '"accounts":[{"name":"kept"}]},"filler":""}',
    });
  });

  test("of an unreadable body only length and error are kept", async () => {
    await call(receiverOf("users"), { body: "no JSON" });
    expect(await deadLetters()).toMatchObject([
      { envelope: { body: { as: "withheld", bytes: 7, error: expect.stringMatching(/^not JSON/) } } },
    ]);
  });
});

test("log lines hold codes, ids and reasons only, whatever came in", async () => {
  const handlers = { users: receiverOf("users"), accounts: receiverOf("accounts") };
  for (const { kind, body } of badInputs.filter(({ body }) => rawOf(body).length < 100_000)) {
    const handler = kind === "users" ? handlers.users : handlers.accounts;
    await call(handler, { body });
    await call(handler, { body, headers: { [secretHeader]: "wrong-one" } });
  }
  const working = system.fail("sqs:SendMessageBatch");
  await call(handlers.accounts);
  working();
  const lines = logged
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  const allowed = ["timestamp", "level", "code", "kind", "correlationId", "reason"];
  for (const line of lines) {
    expect(Object.keys(line ?? {}).filter((key) => !allowed.includes(key))).toEqual([]);
  }
  const correlationId = identify("accounts", Buffer.from(JSON.stringify(account)));
  expect(lines).toEqual(
    expect.arrayContaining(
      [
        { code: "WEBHOOK_FAILED", kind: "accounts", correlationId, reason: "ServiceUnavailable" },
        { code: "WEBHOOK_REFUSED", kind: "accounts", reason: "secret" },
      ].map((line) => expect.objectContaining(line)),
    ),
  );
  expect(logged).not.toContain(account.account_id);
  expect(logged).not.toContain("wrong-one");
  expect(logged).not.toContain(goodSecret);
});
