import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { valueOfKind } from "../../../domain/core/webhook-secret.ts";
import { identify } from "../../../domain/event/envelope.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { credentialFields } from "../../../domain/event/payload.ts";
import { account, call, goodSecret, receiverFixture, secretHeader } from "../support/receiver-fixture.ts";

const fixture = receiverFixture();
const { receiverOf, queued, expectNothingKept } = fixture;

test("fields that the settings name are dropped from a body of any kind, in place of the usual ones", async () => {
  const sent = '{"event":"connect_account","Magic-Link":{"a":[1]},"link":"stays"}';
  await call(receiverOf("accounts", { credentials: credentialFields(["magic-link"]) }), { body: sent });
  const [envelope] = await queued();
  expect(envelope?.body).toEqual({ type: "text", text: '{"event":"connect_account","link":"stays"}' });
});

test.each<[string, Record<string, string>]>([
  ["missing", {}],
  ["wrong", { [secretHeader]: goodSecret.replace("s3", "S3") }],
  ["shorter", { [secretHeader]: goodSecret.slice(0, -1) }],
  ["a megabyte long", { [secretHeader]: "x".repeat(1_000_000) }],
  ["not ASCII, as bytes of latin1", { [secretHeader]: "\u00e9\u00ff" }],
  ["repeated", { [secretHeader]: `${goodSecret},${goodSecret}` }],
])("a webhook is refused with 401, and nothing of it is kept, where its secret is %s", async (_, headers) => {
  const answer = await call(receiverOf("accounts"), { headers });
  expect(answer).toMatchObject({ statusCode: 401, body: '{"message":"unauthorized"}' });
  await expectNothingKept();
});

describe("a webhook whose secret follows a scheme", () => {
  const basic = (text: string) => Buffer.from(text).toString("base64");
  const value = valueOfKind(goodSecret, "accounts");

  test.each<[string, string, string, number]>([
    ["Bearer", "the value of its kind", `Bearer ${value}`, 202],
    ["Bearer", "the secret itself", `Bearer ${goodSecret}`, 202],
    ["Bearer", "the scheme in small letters", `bearer ${value}`, 202],
    ["Bearer", "several spaces", `BEARER   ${value}`, 202],
    ["Bearer", "the value alone", value, 401],
    ["Bearer", "another scheme", `Token ${value}`, 401],
    ["Bearer", "Basic", `Basic ${basic(`user:${value}`)}`, 401],
    ["Bearer", "the scheme alone", "Bearer", 401],
    ["Bearer", "the scheme and a space", "Bearer ", 401],
    ["Bearer", "no space", `Bearer${value}`, 401],
    ["Bearer", "a wrong value", `Bearer ${value.slice(0, -1)}`, 401],
    ["Bearer", "the value of another kind", `Bearer ${valueOfKind(goodSecret, "users")}`, 401],
    ["Bearer", "it twice", `Bearer ${value},Bearer ${value}`, 401],
    ["Basic", "the value as the password", `Basic ${basic(`income-events:${value}`)}`, 202],
    ["Basic", "another user", `basic ${basic(`hooks:${value}`)}`, 202],
    ["Basic", "no user", `Basic ${basic(`:${goodSecret}`)}`, 202],
    ["Basic", "no password", `Basic ${basic(value)}`, 401],
    ["Basic", "an empty password", `Basic ${basic("user:")}`, 401],
    ["Basic", "the value as the user", `Basic ${basic(`${value}:`)}`, 401],
    ["Basic", "more than the value", `Basic ${basic(`user:${value}:`)}`, 401],
    ["Basic", "no base64", `Basic user:${value}`, 401],
    ["Basic", "Bearer", `Bearer ${value}`, 401],
    ["Basic", "the value alone", value, 401],
  ])("as the settings say, %s: with %s", async (secretScheme, _, authorization, status) => {
    const receive = receiverOf("accounts", { header: "authorization", secretScheme });
    expect(await call(receive, { headers: { authorization } })).toMatchObject({ statusCode: status });
    expect(await queued()).toHaveLength(status === 202 ? 1 : 0);
  });

  test("is refused with a scheme if the settings name none", async () => {
    const receive = receiverOf("accounts", { header: "authorization" });
    const answer = await call(receive, { headers: { authorization: `Bearer ${value}` } });
    expect(answer).toMatchObject({ statusCode: 401 });
    expect(await call(receive, { headers: { authorization: value } })).toMatchObject({ statusCode: 202 });
  });
});

describe("a webhook that carries the value of its kind", () => {
  const signing = "signing-secret";
  const body = Buffer.from(JSON.stringify(account));
  const previous = { previous: "before", previousUntil: "2026-11-22T00:00:00Z" };
  const signature = { "x-signature": createHmac("sha512", signing).update(body).digest("base64") };

  test.each([
    ["as the service sends it", { current: goodSecret }, goodSecret],
    ["made of the secret before, in a rotation", { current: "next", ...previous }, "before"],
    ["with a good signature", { current: goodSecret, signing }, goodSecret],
  ])("opens its own path and no other, %s", async (_, secret, of) => {
    for (const kind of webhookKinds) {
      const receive = receiverOf(kind, { secret });
      for (const sentTo of webhookKinds.filter((each) => each !== kind)) {
        const headers = { [secretHeader]: valueOfKind(of, sentTo), ...signature };
        expect(await call(receive, { body, headers })).toMatchObject({ statusCode: 401 });
        await expectNothingKept();
      }
      const headers = { [secretHeader]: valueOfKind(of, kind), ...signature };
      expect(await call(receive, { body, headers })).toMatchObject({ statusCode: 202 });
      expect(await queued()).toMatchObject([{ kind, id: identify(kind, body) }]);
    }
  });
});

describe("where a signing secret is set", () => {
  const signing = "signing-secret";
  const secret = { current: goodSecret, signing };
  // A byte that is invalid in UTF-8, so the text and the bytes have different signatures.
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

  test("an event whose facts are in headers is refused: the signature covers the body alone", async () => {
    const handler = receiverOf("accounts", { secret, mappedHeaders: ["ce-id"] });
    const headers = { [secretHeader]: goodSecret, "x-signature": sign(body) };
    expect(await call(handler, { body, headers: { ...headers, "ce-id": "forged" } })).toMatchObject({
      statusCode: 401,
    });
    await expectNothingKept();
    expect(await call(handler, { body, headers })).toMatchObject({ statusCode: 202 });
  });

  test("a valid signature does not replace the secret header", async () => {
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

  test("one from elsewhere is refused with 403 before its secret is checked, and nothing is stored", async () => {
    const handler = receiverOf("accounts", { sourceAddresses: ["203.0.113.0/24"] });
    expect(await call(handler)).toMatchObject({ statusCode: 403, body: '{"message":"forbidden"}' });
    expect(fixture.logged).toContain('"reason":"source address"');
    await expectNothingKept();
  });
});

describe("a body", () => {
  const maxBodyBytes = 1_024;
  // Two bytes each, so that bytes rather than characters are counted.
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
      const working = fixture.system.fail("secretsmanager:GetSecretValue");
      const answer = await call(receiverOf("accounts", { maxBodyBytes }), { body });
      working();
      expect(answer).toMatchObject({ statusCode: 413, body: '{"message":"body too large"}' });
      expect(fixture.logged).toContain('"reason":"body size"');
      await expectNothingKept();
    },
  );
});
