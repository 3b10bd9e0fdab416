import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import {
  failureFrom,
  get,
  limits,
  maxResponseBytes,
  noon,
  providerApiFixture,
} from "./provider-api-fixture.ts";

const fixture = providerApiFixture();
const text = '{"data":[{"amount":12345678901234567890.10,"name":"José"}]}';
const whole = Buffer.from(text);

/** Answers with these bytes and this `Content-Encoding`. */
function answering(bytes: Uint8Array, coding: string | string[] | undefined, status = 200) {
  fixture.provider.answer = () => (response) => {
    if (coding !== undefined) response.setHeader("content-encoding", coding);
    response.writeHead(status, { "content-type": "application/json" }).end(bytes);
  };
  // Long time-outs, because inflating may take long on a busy machine.
  const timeouts = { connectSeconds: 10, headersSeconds: 10, bodySeconds: 10 };
  return new ProviderApi(fixture.provider.url, { ...limits, timeouts }, () => noon).send("jwt", get);
}

describe("an answer's content coding", () => {
  test.each<[string, string | string[] | undefined, Uint8Array]>([
    ["none", undefined, whole],
    ["identity", "identity", whole],
    ["gzip", "gzip", gzipSync(whole)],
    ["gzip in other letters", "GZip", gzipSync(whole)],
    ["x-gzip", "x-gzip", gzipSync(whole)],
    [
      "gzip in two members",
      "gzip",
      Buffer.concat([gzipSync(whole.subarray(0, 9)), gzipSync(whole.subarray(9))]),
    ],
    ["deflate", "deflate", deflateSync(whole)],
    ["deflate without zlib's frame", "deflate", deflateRawSync(whole)],
    ["br", "br", brotliCompressSync(whole)],
    ["zstd", "zstd", zstdCompressSync(whole)],
    ["several in a row", "gzip, br", brotliCompressSync(gzipSync(whole))],
    ["the same twice", "gzip,gzip", gzipSync(gzipSync(whole))],
    ["several headers", ["deflate", "zstd"], zstdCompressSync(deflateSync(whole))],
    ["one that does nothing among others", "identity, , gzip", gzipSync(whole)],
    ["gzip that no header names", undefined, gzipSync(whole)],
    ["zstd under identity", "identity", zstdCompressSync(whole)],
    ["gzip in a gzip that is named", "gzip", gzipSync(gzipSync(whole))],
    ["a charset in its place", "UTF-8", whole],
    ["a word in its place", "none", whole],
    ["an unknown name of a JavaScript property", "constructor", whole],
    ["an unknown name after gzip", "gzip, utf-8", gzipSync(whole)],
    ["an unknown name before gzip", "utf-8, gzip", gzipSync(whole)],
    ["gzip under an unknown name", "binary", gzipSync(whole)],
  ])("%s is decoded", async (_, coding, bytes) => {
    expect(await answering(bytes, coding)).toEqual({
      found: true,
      text,
      bytes: whole,
      contentType: "application/json",
    });
  });

  test.each<[string, string, Uint8Array]>([
    ["gzip", "gzip", whole],
    ["deflate", "deflate", whole],
    ["br", "br", whole],
    ["zstd", "zstd", whole],
    ["another order", "br, gzip", brotliCompressSync(gzipSync(whole))],
    ["a whole gzip", "gzip", gzipSync(whole).subarray(0, -5)],
    ["a whole deflate", "deflate", deflateRawSync(whole).subarray(0, -5)],
    ["a whole br", "br", brotliCompressSync(whole).subarray(0, -3)],
    ["a whole zstd", "zstd", zstdCompressSync(whole).subarray(0, -5)],
    ["gzip alone", "gzip", Buffer.concat([gzipSync(whole), Buffer.from("more")])],
    ["gzip beside an unknown name", "utf-8, gzip", whole],
    ["JSON under an unknown name", "utf-8", Buffer.from("OK")],
    ["a coding that is known", "compress", Buffer.from("1f9d907b7cf5", "hex")],
    ["base64, which is unknown", "base64", Buffer.from(whole.toString("base64"))],
    ["ISO-8859-1, which is no coding", "iso-8859-1", Buffer.from('"é"', "latin1")],
    ["four codings at most", "gzip,gzip,gzip,gzip,gzip", gzipSync(whole)],
  ])("that does not match its header %s is a failure of the provider", async (_, coding, bytes) => {
    expect(await failureFrom(answering(bytes, coding))).toMatchObject({
      type: "retryable",
      reason: expect.stringContaining("content coding"),
    });
  });

  test("of an answer without a body is ignored: its status decides", async () => {
    expect(await failureFrom(answering(new Uint8Array(), "gzip", 202))).toMatchObject({ waitsFor: "data" });
    expect(await failureFrom(answering(new Uint8Array(), "gzip"))).toMatchObject({
      type: "retryable",
      reason: "the provider answered 200 with no content",
    });
  });

  const inflated = (bytes: number) => Buffer.from(`"${"0".repeat(bytes - 2)}"`);
  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
    ["gzip, gzip", (bytes) => gzipSync(gzipSync(bytes))],
  ])("%s is decoded up to the limit, and a larger answer is rejected", async (coding, encode) => {
    expect(await answering(encode(inflated(maxResponseBytes)), coding)).toMatchObject({ found: true });
    for (const bytes of [maxResponseBytes + 1, 50_000_000])
      expect(await failureFrom(answering(encode(inflated(bytes)), coding))).toEqual({
        type: "permanent",
        reason: `the answer is over ${maxResponseBytes} bytes; see provider.maxResponseBytes`,
      });
  });
});
