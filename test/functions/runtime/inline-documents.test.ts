import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { contentOf } from "../../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Failure } from "../../../domain/core/failures.ts";
import { present } from "../../../domain/core/parse.ts";
import { losslessValue } from "../../../domain/event/lossless-json.ts";
import type { Document, DocumentStorage } from "../../../domain/fetch/document.ts";
import { messageOfDocument } from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { inlineDocuments, publisher } from "../../../functions/runtime/subscriber-queues.ts";
import { at, documentRead } from "../../domain/samples.ts";

const origin = { source: "/income-events/test", documentsUrl: "https://reads.example/" };
const text = '{ "amount": 12345678901234567890.10, "rate": 1e-7, "smile": "\u{1F600}", "name": "ü" }';

function reported(content: string, contentType?: string): Message {
  const { digest } = contentOf(content);
  const document = documentRead(undefined, digest, { asOf: at.getTime() });
  const typed = present<Document>({ ...document, size: Buffer.byteLength(content), contentType });
  return messageOfDocument(typed, origin);
}
const inItem = (content: string): DocumentStorage => ({ codec: "gzip", content: gzipSync(content) });
const nowhere = { get: async (): Promise<never> => Promise.reject(new Error("AccessDenied")) };
const written = (
  content: string,
  storage: DocumentStorage | undefined,
  limit = 204_800,
  overflow: Pick<OverflowBucket, "get"> = nowhere,
) => inlineDocuments(limit, overflow)({ message: reported(content), storage });
const documentIn = (message: string) => JSON.parse(message).data.document;

/** Publishes a message to subscribers, of whom `inline` wants documents in messages. */
async function published(
  names: readonly string[],
  message: Parameters<ReturnType<typeof publisher>>[0][number],
  inline?: ReturnType<typeof inlineDocuments>,
) {
  const sent = new Map<string, string>();
  const send = async (queue: string, messages: readonly { readonly body: string }[]) => {
    for (const { body } of messages) sent.set(queue, body);
    return messages.map((): Failure | undefined => undefined);
  };
  const subscribers = names.map((name) => ({
    ...{ name, queueUrl: name, deadLetterQueueUrl: "d" },
    ...(name === "inline" && { documents: "inline" as const }),
  }));
  const publish = publisher(send, subscribers, () => undefined, inline && { inline });
  return { sent, failures: await publish([message]) };
}

describe("a document in its message", () => {
  it("has every digit as the provider wrote it, after its reference", async () => {
    const message = await written(text, inItem(text));
    expect(message).toContain("12345678901234567890.10");
    expect(JSON.stringify(losslessValue(message))).toContain("1e-7");
    const { content, ...reference } = documentIn(message);
    expect(content).toEqual(JSON.parse(text));
    expect({ ...JSON.parse(message), data: undefined }).toEqual({ ...reported(text), data: undefined });
    expect(reference).toEqual(documentIn(JSON.stringify(reported(text))));
  });

  it("passes queues that take no characters beyond U+FFFF", async () => {
    expect(await written(text, inItem(text))).not.toMatch(/[\u{10000}-\u{10FFFF}]/u);
  });

  it("is read from the bucket if it is stored there", async () => {
    const overflow = { get: async (key: string) => gzipSync(key === "data/1" ? text : "") };
    const message = await written(text, { codec: "gzip", object: "data/1" }, 204_800, overflow);
    expect(documentIn(message).content).toEqual(JSON.parse(text));
  });

  it("is referenced if the message would exceed the limit by one byte", async () => {
    const whole = Buffer.byteLength(await written(text, inItem(text)));
    expect(documentIn(await written(text, inItem(text), whole))).toHaveProperty("content");
    expect(documentIn(await written(text, inItem(text), whole - 1))).not.toHaveProperty("content");
  });

  it("that is too large is not even read", async () => {
    const large = JSON.stringify(randomBytes(10_000).toString("base64"));
    expect(documentIn(await written(large, { codec: "gzip", object: "data/1" }, 2_000))).toMatchObject({
      size: large.length,
    });
  });

  it.each([
    ["can't be read", { codec: "gzip", object: "data/1" } as const],
    ["does not match its stored digest", inItem("[]")],
    ["is not known where it lies", undefined],
  ])("is referenced if it %s", async (_, storage) => {
    expect(await written(text, storage)).toBe(JSON.stringify(reported(text)));
  });

  it("is referenced if its bytes are not UTF-8, unlike a message", async () => {
    const message = reported(text, "application/json; charset=ISO-8859-1");
    const sent = await inlineDocuments(204_800, nowhere)({ message, storage: inItem(text) });
    expect(sent).toBe(JSON.stringify(message));
    expect(documentIn(sent)).toMatchObject({ contentType: "application/json; charset=ISO-8859-1" });
  });

  it.each([
    ["is larger than a message may be", { limit: 300, type: "permanent" }],
    ["is not UTF-8", { message: reported(text, "application/json; charset=utf-16"), type: "permanent" }],
    ["can't be read now", { storage: { codec: "gzip", object: "data/1" } as const, type: "retryable" }],
  ])("fails in its message if it %s and nothing else is read", async (_, given) => {
    const { message, storage, limit, type } = {
      ...{ message: reported(text), storage: inItem(text), limit: 204_800 },
      ...given,
    };
    const inline = inlineDocuments(limit, nowhere, true);
    const { sent, failures } = await published(["inline"], { index: 0, message, storage }, inline);
    expect(failures).toMatchObject([{ text: { index: 0 }, failure: { type } }]);
    expect(sent).toEqual(new Map());
  });

  it("names its reader in its address if it is read by invoking a function", async () => {
    const functionArn = "arn:aws:lambda:eu-central-2:111111111111:function:read";
    const read = documentRead(undefined, contentOf(text).digest, { asOf: at.getTime() });
    const message = messageOfDocument(read, { ...origin, documentsUrl: `${functionArn}/` });
    const { sent } = await published(["billing", "risk"], { index: 0, message });
    expect([...sent.values()].map((body) => documentIn(body).href.split("/v1/")[0])).toEqual([
      `${functionArn}:billing`,
      `${functionArn}:risk`,
    ]);
  });

  it("is sent only to subscribers with that setting", async () => {
    const given = { index: 0, message: reported(text), storage: inItem(text) };
    const { sent } = await published(["inline", "plain"], given, inlineDocuments(204_800, nowhere));
    expect(documentIn(sent.get("inline") ?? "")).toHaveProperty("content");
    expect(documentIn(sent.get("plain") ?? "")).not.toHaveProperty("content");
  });
});
