import { createHmac } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { identify } from "../../../domain/event/envelope.ts";
import { account, call, goodSecret, receiverFixture, secretHeader } from "../support/receiver-fixture.ts";

const fixture = receiverFixture();
const { receiverOf, queued, deadLetters } = fixture;

const text = JSON.stringify({ ...account, name: "Zoë €", amount: 1 });
const plain = Buffer.from(text);
const marked = Buffer.from(`\uFEFF${text}`);
const utf16 = Buffer.from(text, "utf16le");
const latin = text.replace("€", "é");

const cases: [name: string, body: Buffer, headers: Record<string, string>, readAs?: string][] = [
  ["UTF-8", plain, {}],
  ["UTF-8 with a byte order mark", marked, {}],
  ["gzip", gzipSync(plain), { "content-encoding": "gzip" }],
  ["gzip of a byte order mark", gzipSync(marked), { "content-encoding": "gzip" }],
  ["gzip in capitals", gzipSync(plain), { "content-encoding": " GZIP " }],
  ["gzip that no header names", gzipSync(plain), {}],
  ["gzip under an empty header", gzipSync(marked), { "content-encoding": " " }],
  ["zlib that no header names", deflateSync(plain), {}],
  ["zstd that no header names", zstdCompressSync(plain), { "content-type": "application/zstd" }],
  ["UTF-16 in gzip that no header names", gzipSync(Buffer.from(text, "utf16le")), {}],
  ["x-gzip", gzipSync(plain), { "content-encoding": "x-gzip" }],
  ["deflate", deflateSync(plain), { "content-encoding": "deflate" }],
  ["deflate without zlib's frame", deflateRawSync(plain), { "content-encoding": "Deflate" }],
  ["br", brotliCompressSync(plain), { "content-encoding": "br" }],
  ["zstd", zstdCompressSync(plain), { "content-encoding": "zstd" }],
  ["identity", plain, { "content-encoding": "identity" }],
  ["an empty coding", plain, { "content-encoding": "" }],
  ["several codings", brotliCompressSync(gzipSync(plain)), { "content-encoding": "gzip, br" }],
  ["the same coding twice", gzipSync(gzipSync(plain)), { "content-encoding": "gzip,gzip" }],
  ["gzip twice where its header says once", gzipSync(gzipSync(plain)), { "content-encoding": "gzip" }],
  ["gzip under identity", gzipSync(marked), { "content-encoding": "identity" }],
  ["identity among others", gzipSync(plain), { "content-encoding": "identity, gzip" }],
  ["a charset for a coding", plain, { "content-encoding": "UTF-8" }],
  ["none for a coding", marked, { "content-encoding": "none" }],
  ["gzip beside an unknown coding", gzipSync(plain), { "content-encoding": "utf-8, gzip" }],
  ["UTF-16 under an unknown coding", utf16, { "content-encoding": "utf-16" }],
  ["an unknown charset", plain, { "content-type": "application/json; charset=utf8mb4" }],
  ["UTF-16 under an unknown charset", utf16, { "content-type": "application/json; charset=UTF_16" }],
  ["UTF-16 with its mark", Buffer.from(`\uFEFF${text}`, "utf16le"), {}],
  ["UTF-16 with its mark, the other way round", Buffer.from(`\uFEFF${text}`, "utf16le").swap16(), {}],
  ["UTF-16 without a mark", utf16, {}],
  ["UTF-16 that its content type names", utf16, { "content-type": "application/json; charset=UTF-16LE" }],
  ["UTF-16 in gzip", gzipSync(Buffer.from(`\uFEFF${text}`, "utf16le")), { "content-encoding": "gzip" }],
  ["UTF-16 that is called UTF-8", utf16, { "content-type": "application/json; charset=utf-8" }],
  ["UTF-8 that is called ISO-8859-1", plain, { "content-type": "application/json; charset=iso-8859-1" }],
  [
    "ISO-8859-1",
    Buffer.from(latin, "latin1"),
    { "content-type": 'application/json; charset="ISO-8859-1"' },
    latin,
  ],
];

describe("a webhook is the same event in any encoding:", () => {
  test.each(cases)("%s", async (_, body, headers, readAs = text) => {
    const request = { body, headers: { [secretHeader]: goodSecret, ...headers } };
    expect(await call(receiverOf("accounts"), request)).toEqual({ statusCode: 202 });
    expect(await queued()).toMatchObject([
      { id: identify("accounts", Buffer.from(readAs)), body: { type: "text", text: readAs } },
    ]);
  });

  test("the signature is over the bytes as they were sent", async () => {
    const signing = "signing-secret";
    const receive = receiverOf("accounts", { secret: { current: goodSecret, signing } });
    const sent = gzipSync(marked);
    const send = (signed: Buffer) =>
      call(receive, {
        body: sent,
        headers: {
          [secretHeader]: goodSecret,
          "content-encoding": "gzip",
          "x-signature": createHmac("sha512", signing).update(signed).digest("base64"),
        },
      });
    for (const other of [plain, marked]) expect(await send(other)).toMatchObject({ statusCode: 401 });
    expect(await send(sent)).toEqual({ statusCode: 202 });
    expect(await queued()).toMatchObject([{ id: identify("accounts", plain) }]);
  });
});

describe("the limit of a body holds when it is inflated:", () => {
  const maxBodyBytes = 10_000;
  const ofBytes = (bytes: number) => Buffer.from(`"${"0".repeat(bytes - 2)}"`);

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, gzip", (bytes) => gzipSync(gzipSync(bytes))],
  ])("%s", async (coding, encode) => {
    const receive = receiverOf("accounts", { maxBodyBytes });
    const send = (bytes: number) =>
      call(receive, {
        body: encode(ofBytes(bytes)),
        headers: { [secretHeader]: goodSecret, "content-encoding": coding },
      });
    expect(await send(maxBodyBytes)).toEqual({ statusCode: 202 });
    await queued();
    for (const bytes of [maxBodyBytes + 1, 5_000_000])
      expect(await send(bytes)).toMatchObject({ statusCode: 413, body: '{"message":"body too large"}' });
    expect(fixture.logged).toMatch(/"WEBHOOK_REFUSED",.*"kind":"accounts",.*"reason":"body size"/);
    await fixture.expectNothingKept();
  });
});

test("a body that is no JSON and holds no credentials is kept as it is inflated", async () => {
  const request = {
    body: gzipSync("hello"),
    headers: { [secretHeader]: goodSecret, "content-encoding": "gzip" },
  };
  expect(await call(receiverOf("accounts"), request)).toEqual({ statusCode: 202 });
  expect(await deadLetters()).toMatchObject([{ envelope: { body: { type: "text", text: "hello" } } }]);
});
