import { gunzipSync } from "node:zlib";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { sizeOf } from "../../adapters/aws/content.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { contentOf, documentStore } from "../../adapters/dynamodb/documents.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { documentAfter } from "../../domain/fetch/document.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { hrefOfDocument } from "../../domain/message/document-reference.ts";
import { clientsOf } from "../../proof/scenario/clients.ts";

const stored = z.object({
  document: z.object({
    codec: z.enum(["gzip", "identity"]).optional(),
    content: z.instanceof(Uint8Array).optional(),
  }),
});

/** Data in a document's item itself; undefined if it is elsewhere. */
export function contentIn(item: unknown): unknown {
  const { codec, content } = stored.parse(item).document;
  if (content === undefined) return undefined;
  return JSON.parse(Buffer.from(codec === "gzip" ? gunzipSync(content) : content).toString());
}

/**
 * Stores an income document as a fetch does.
 * @param pipeline prefix of the stack's outputs
 * @returns its URL as in messages, and its digest
 */
export async function storeIncome(
  stack: LocalStack,
  subject: Subject,
  parts: readonly Uint8Array[],
  pipeline = "",
) {
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  using clients = clientsOf(access);
  const output = (name: string) => outputOf(stack, `${pipeline}${name}`);
  const income = { endpoint: "income" };
  const content = contentOf(parts);
  const now = Date.now();
  const call = { asOf: now, by: [], task: documentTask(subject, income, now, { cause: "test" }) };
  const found = { digest: content.digest, size: sizeOf(parts) };
  const documents = documentStore(
    batchingReader(clients.dynamodb, output("TableName")),
    batchingWriter(clients.dynamodb, output("TableName"), async () => undefined),
    overflowBucket(output("OverflowBucketName"), clients.s3),
  );
  await documents.save(undefined, documentAfter(undefined, call, found), content);
  return { url: new URL(hrefOfDocument(subject, income, output("DocumentsUrl"))), digest: content.digest };
}
