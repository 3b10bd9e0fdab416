import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { parseAuthorization, verifySignature } from "@income-events/local-stack/gateway/signature.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { inMemoryCache } from "../../../packages/subscriber/document-cache.ts";
import { type DocumentOptions, readDocument } from "../../../packages/subscriber/read-document.ts";
import { readMessage } from "../../../packages/subscriber/read-message.ts";
import { exampleOf } from "../../../scripts/documents/examples.ts";

const text = '{"data":[{"amount":12345678901234567890}]}';
const sha256 = createHash("sha256").update(text).digest("hex");
const host = "https://abc.lambda-url.eu-west-1.on.aws";
const href = `${host}/v1/accounts/a%2Fb/documents/it's%20(income)/2026-01-01..2026-01-31?version=7`;
const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret", sessionToken: "session" };
const etag = '"tag"';

function messageWith(document: object | undefined) {
  const { type, data, ...attributes } = exampleOf("data.updated");
  if (type !== "data.updated") throw new Error("the example is of another type");
  const { document: _, ...named } = Object(data);
  return { ...attributes, type, data: { ...named, ...(document && { document }) } } as Parameters<
    typeof readDocument
  >[0];
}
const message = messageWith({
  href,
  sha256,
  size: text.length,
  contentType: "application/json",
  version: "7",
  observedAt: "2026-11-21T12:00:00Z",
});

type Answer = {
  readonly status: number;
  readonly body?: string | Uint8Array<ArrayBuffer> | null;
  readonly headers?: Record<string, string>;
};

/** Reads with these answers in order; an Error breaks the connection. */
async function read(
  answers: readonly (Answer | Error)[],
  options: DocumentOptions = {},
  about: typeof message = message,
) {
  const left = [...answers];
  const requests: { url: URL; headers: Record<string, string>; body?: string }[] = [];
  const waits: number[] = [];
  vi.stubGlobal(
    "fetch",
    async (url: URL, { headers, body }: { headers: Record<string, string>; body?: string }) => {
      requests.push({ url, headers, ...(body !== undefined && { body }) });
      const answer = left.shift();
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("asked too often");
      return new Response(answer.body ?? null, { status: answer.status, headers: answer.headers ?? {} });
    },
  );
  const wait = async (milliseconds: number) => void waits.push(milliseconds);
  const result = readDocument(about, { credentials, wait, ...options });
  return { result: await result.catch((error: unknown) => error), requests, waits };
}

const whole = { status: 200, body: text, headers: { etag } };
const problem = (type: string) => ({
  status: 404,
  body: JSON.stringify({ type: `urn:income-events:problem:${type}` }),
});

describe("readDocument", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  });

  it("gives the bytes of the version that a message names, and its JSON with every digit", async () => {
    const { result } = await read([whole]);
    expect(result).toMatchObject({ type: "document", bytes: new TextEncoder().encode(text) });
    const { json } = Object(result);
    expect(String(json().data[0].amount)).toBe("12345678901234567890");
    expect(() => json("income")).toThrow("the document is none of income: data.0.id: is missing");
  });

  const utf16 = (json: string) => Buffer.from(json, "utf16le");
  it.each<[string, Uint8Array, string]>([
    ["ISO-8859-1", Buffer.from('"José"', "latin1"), 'application/json; charset="ISO-8859-1"'],
    ["UTF-8 with a byte order mark", Buffer.from('\uFEFF"José"'), "application/json"],
    ["UTF-16 with a byte order mark", utf16('\uFEFF"José"').swap16(), "application/json; charset=utf-16"],
    ["UTF-16 without one", utf16('"José"').swap16(), "application/json; charset=utf-16"],
    ["UTF-16LE", utf16('"José"'), "application/json;charset=UTF-16LE"],
  ])("gives the bytes of a document in %s, and its JSON by its charset", async (_, given, contentType) => {
    const bytes = new Uint8Array(given);
    const digest = createHash("sha256").update(bytes).digest("hex");
    const observedAt = "2026-11-21T12:00:00Z";
    const reference = { href, sha256: digest, size: bytes.length, contentType, version: "7", observedAt };
    const { result } = await read([{ status: 200, body: bytes }], {}, messageWith(reference));
    expect(result).toMatchObject({ type: "document", bytes });
    expect(Object(result).json()).toBe("José");
  });

  it("signs for the region that the address names, as the gateway verifies it", async () => {
    const { requests } = await read([whole]);
    const [{ url, headers } = { url: new URL(host), headers: {} }] = requests;
    const claim = parseAuthorization(headers.authorization);
    expect(claim).toMatchObject({ accessKeyId: "AKIAEXAMPLE", region: "eu-west-1", service: "lambda" });
    expect(claim?.signedHeaders).toEqual(["host", "x-amz-date", "x-amz-security-token"]);
    const sent = { ...headers, host: url.host };
    const request = (target: string) => ({ method: "GET", target, headers: sent, body: Buffer.alloc(0) });
    const target = `${url.pathname}${url.search}`;
    expect(claim && verifySignature(claim, request(target), "secret")).toBe(true);
    expect(claim && verifySignature(claim, request(`${target}1`), "secret")).toBe(false);
  });

  describe("by invoking a function", () => {
    const alias = "arn:aws:lambda:eu-central-2:111111111111:function:read:billing";
    const path = "/v1/accounts/a%2Fb/documents/income?version=7";
    const invoked = messageWith({ ...message.data.document, href: `${alias}${path}` });
    const answered = (status: number, body: Uint8Array | string, headers = {}): Answer => {
      const text = JSON.stringify({ status, headers, body: Buffer.from(body).toString("base64") });
      return { status: 200, body: text };
    };

    it("signs for Lambda if the address names it, requests the path, and decompresses the answer", async () => {
      const compressed = answered(200, gzipSync(text), { etag, "content-encoding": "gzip" });
      const { result, requests } = await read([compressed], {}, invoked);
      expect(result).toMatchObject({ type: "document", bytes: new TextEncoder().encode(text) });
      const [{ url, headers, body } = { url: new URL(host), headers: {}, body: "" }] = requests;
      expect(url.href).toBe(
        `https://lambda.eu-central-2.amazonaws.com/2015-03-31/functions/${encodeURIComponent(alias)}/invocations`,
      );
      expect(JSON.parse(body ?? "")).toEqual({ path, acceptEncoding: "gzip" });
      const claim = parseAuthorization(headers.authorization);
      const sent = { ...headers, host: url.host };
      const request = { method: "POST", target: url.pathname, headers: sent, body: Buffer.from(body ?? "") };
      expect(claim && verifySignature(claim, request, "secret")).toBe(true);
    });

    it("asks an endpoint that is given, as on this machine or in a VPC", async () => {
      vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566");
      expect((await read([answered(200, text)], {}, invoked)).requests[0]?.url.origin).toBe(
        "http://127.0.0.1:4566",
      );
      const lambdaEndpoint = "https://vpce.example";
      expect((await read([answered(200, text)], { lambdaEndpoint }, invoked)).requests[0]?.url.origin).toBe(
        lambdaEndpoint,
      );
    });

    it("sends the tag of the cached document, and uses the cache", async () => {
      const cache = inMemoryCache();
      const { requests, result } = await read([answered(200, text, { etag })], { cache }, invoked);
      expect([requests.length, Object(result).type]).toEqual([1, "document"]);
      const again = await read([answered(304, "", { etag })], { cache }, invoked);
      expect(JSON.parse(again.requests[0]?.body ?? "")).toMatchObject({ ifNoneMatch: etag });
      expect(again.result).toMatchObject({ type: "document" });
    });

    it("retries if Lambda is busy or the function failed, and fails if it may not invoke", async () => {
      const failed = { status: 200, body: "{}", headers: { "x-amz-function-error": "Unhandled" } };
      expect(await read([{ status: 429 }, failed, answered(200, text)], {}, invoked)).toMatchObject({
        result: { type: "document" },
        waits: { length: 2 },
      });
      for (const status of [403, 404])
        expect((await read([{ status }], {}, invoked)).result).toMatchObject({
          name: "DocumentError",
          status,
        });
      const gone = await read([answered(404, String(problem("version-not-kept").body))], {}, invoked);
      expect(gone.result).toEqual({ type: "replaced" });
    });
  });

  it("reports if only messages contain documents, and this one does not", async () => {
    const urn = messageWith({ ...message.data.document, href: "urn:income-events:documents/v1/accounts/a" });
    expect((await read([], {}, urn)).result).toMatchObject({
      message: expect.stringContaining("messages alone"),
    });
  });

  it("takes credentials and region from the environment by default", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    const { credentials: _, ...environment } = { credentials: undefined };
    const { requests } = await read([whole], {
      ...environment,
      credentials: async () => ({ ...credentials, accessKeyId: "AKIAPROVIDER" }),
    });
    expect(requests[0]?.headers.authorization).toContain("Credential=AKIAPROVIDER/");
    vi.stubGlobal("fetch", async (_url: URL, { headers }: { headers: Record<string, string> }) => {
      expect(headers.authorization).toContain("Credential=AKIAENVIRONMENT/");
      return new Response(text);
    });
    expect(await readDocument(message)).toMatchObject({ type: "document" });
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    await expect(readDocument(message)).rejects.toThrow("no credentials: pass them");
  });

  it("asks a busy stage again after the time that it names, and after a connection that broke", async () => {
    const busy = { status: 503, headers: { "retry-after": "3" } };
    const { result, waits } = await read([busy, { status: 429 }, new Error("reset"), { status: 502 }, whole]);
    expect(result).toMatchObject({ type: "document" });
    expect(waits[0]).toBe(3000);
    expect(waits).toHaveLength(4);
  });

  it("fails if the stage stays busy, refuses, or returns other bytes, so that the message is retried", async () => {
    const busy = await read([{ status: 503 }, { status: 503 }], { tries: 2 });
    expect(busy.result).toMatchObject({ message: "the document was answered 503, 2 times" });
    expect((await read([{ status: 403 }])).result).toMatchObject({ name: "DocumentError", status: 403 });
    expect((await read([{ ...whole, body: "{}" }])).result).toMatchObject({
      message: expect.stringContaining("not those that the message names"),
    });
  });

  it("reads the document from a message that contains it, with every digit and without a request", async () => {
    const reference = { ...message.data.document, content: "stand-in" };
    const inText = JSON.stringify({ ...message, data: { ...message.data, document: reference } });
    const received = readMessage(inText.replace('"stand-in"', () => text));
    const asked = vi.fn();
    vi.stubGlobal("fetch", asked);
    if (received.type !== "message" || received.message.type !== "data.updated")
      throw new Error(received.type);
    const result = await readDocument(received.message);
    expect(result).toMatchObject({ type: "document", bytes: Buffer.from(text) });
    expect(String(Object(result).json().data[0].amount)).toBe("12345678901234567890");
    // A parsed copy has lost the exact text, but here no digit.
    const content = { data: [{ amount: 1 }] };
    const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
    const copied = messageWith({ ...message.data.document, sha256: digest, content });
    expect(await readDocument(copied)).toMatchObject({ type: "document" });
    expect(asked).not.toHaveBeenCalled();
  });

  it("requests the document if the message's content does not match its digest", async () => {
    const held = messageWith({ ...message.data.document, content: { data: [] } });
    const asked = vi.fn(async () => new Response(text));
    vi.stubGlobal("fetch", asked);
    expect(await readDocument(held, { credentials })).toMatchObject({
      type: "document",
      bytes: new TextEncoder().encode(text),
    });
    expect(asked).toHaveBeenCalledOnce();
  });

  it("returns that a version was replaced, or that there is no more data", async () => {
    expect((await read([problem("version-not-kept")])).result).toEqual({ type: "replaced" });
    expect((await read([problem("not-found")])).result).toEqual({ type: "gone" });
    expect((await read([{ status: 404, body: "<html>" }])).result).toEqual({ type: "gone" });
    expect(await readDocument(messageWith(undefined))).toEqual({ type: "gone" });
  });

  it("revalidates cached documents, and drops deleted ones", async () => {
    const cache = inMemoryCache();
    await read([whole], { cache });
    const again = await read([{ status: 304 }], { cache });
    expect(again.requests[0]?.headers["if-none-match"]).toBe(etag);
    expect(again.result).toMatchObject({ type: "document", bytes: new TextEncoder().encode(text) });
    expect((await read([problem("not-found")], { cache })).result).toEqual({ type: "gone" });
    expect(await cache.get(href)).toBeUndefined();
  });

  it("keeps as many bytes as it may, the documents that were read last", async () => {
    const cache = inMemoryCache(10);
    const document = (size: number) => ({ etag, bytes: new Uint8Array(size) });
    for (const name of ["first", "second", "third"]) await cache.set(name, document(5));
    expect(await cache.get("first")).toBeUndefined();
    expect((await cache.get("third"))?.bytes.byteLength).toBe(5);
    await cache.set("large", document(11));
    expect([await cache.get("large"), await cache.get("third")]).toEqual([undefined, undefined]);
  });
});
