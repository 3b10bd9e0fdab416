import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { bodyText, type WebhookBody } from "../../adapters/aws/body-text.ts";
import type { RecordReceipt } from "../../adapters/dynamodb/event-table.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { parseJson } from "../../domain/core/parse.ts";
import { readEnvelope } from "../../domain/event/envelope.ts";
import { type KindMapping, mapPayload, type Search } from "../../domain/event/mapping.ts";
import type { MappedHeaders } from "../../domain/event/mapping-source.ts";
import type { Log } from "../runtime/log.ts";
import { rejectPermanent, sqsBatch } from "../runtime/sqs-batch.ts";

export type ConsumerDependencies = {
  readonly record: RecordReceipt;
  readonly overflow: OverflowBucket;
  readonly send: Send;
  readonly deadLetterQueueUrl: string;
  readonly mapping: KindMapping;
  readonly search: Search;
  readonly log: Log;
};

/** Stores the events of one kind: each receipt is one write, and the same event again only counts. */
export function consumer(dependencies: ConsumerDependencies) {
  const { send, deadLetterQueueUrl, log } = dependencies;
  return middy<SQSEvent, SQSBatchResponse>({ timeoutEarlyInMillis: 0 }).handler(
    sqsBatch(({ body }) => store(body, dependencies), rejectPermanent(send, deadLetterQueueUrl, log)),
  );
}

async function store(message: string, dependencies: ConsumerDependencies): Promise<void> {
  const { record, log } = dependencies;
  const { id, kind, receivedAt, headers, body } = readEnvelope(message);
  const isReconciled = body.as === "facts";
  const facts = isReconciled ? body.facts : await mapBody(body, headers, dependencies);
  const event = { ...facts, id, kind, receivedAt, ...(isReconciled ? { reconciled: true as const } : {}) };
  const receipt = await record({ event, body });
  log(receipt === "first" ? "EVENT_STORED" : "EVENT_AGAIN", { kind, correlationId: id });
}

async function mapBody(
  body: WebhookBody,
  headers: MappedHeaders | undefined,
  { overflow, mapping, search }: ConsumerDependencies,
) {
  return mapPayload(mapping, parseJson(await bodyText(body, overflow), "the body"), search, headers);
}
