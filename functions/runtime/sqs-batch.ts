import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Outgoing, Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { correlationIdIn } from "../../domain/event/events.ts";
import { type Log, sanitizeErrors } from "./log.ts";

export type Failed = { readonly record: SQSRecord; readonly failure: Failure };

/**
 * Handles the failed messages of a batch.
 * @returns for each message, in order, whether it is safe elsewhere; otherwise SQS delivers it again
 */
export type HandleFailures = (failed: readonly Failed[]) => Promise<readonly boolean[]>;

/** Handles each message of a batch separately and concurrently. */
export function handleEachRecord(
  handle: (record: SQSRecord) => Promise<void>,
  handleFailures: HandleFailures,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const attempt = (record: SQSRecord) => Promise.try(handle, record).then(() => undefined, failureOf);
  return handleBatch((records) => Promise.all(records.map(attempt)), handleFailures);
}

/**
 * Handles the messages of a batch together. SQS delivers only the failed ones again.
 * @param handle returns the failure of each message, in order, or undefined
 */
export function handleBatch(
  handle: (records: readonly SQSRecord[]) => Promise<readonly (Failure | undefined)[]>,
  handleFailures: HandleFailures,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  return sanitizeErrors(async ({ Records }) => {
    const failures = await handle(Records);
    const failed = Records.flatMap((record, index): Failed[] => {
      const failure = failures[index];
      return failure === undefined ? [] : [{ record, failure }];
    });
    const isSafe = failed.length === 0 ? [] : await handleFailures(failed);
    const left = failed.filter((_, index) => isSafe[index] !== true);
    return { batchItemFailures: left.map(({ record }) => ({ itemIdentifier: record.messageId })) };
  });
}

/** Sends permanent failures to the dead-letter queue with their reason. SQS delivers the others again. */
export function rejectPermanent(send: Send, deadLetterQueueUrl: string, log: Log): HandleFailures {
  return (failed) =>
    Promise.all(
      failed.map(async ({ record, failure: { type, reason } }) => {
        if (type === "permanent") {
          const message = { ...record, ...redriveCountOf(record), reason };
          return (await rejectAll([message], send, deadLetterQueueUrl, log))[0] === true;
        }
        const { messageId, body } = record;
        log("MESSAGE_FAILED", { messageId, correlationId: correlationIdIn(body), reason });
        return false;
      }),
    );
}

/** A message's redrive count, for the message that replaces it. */
export function redriveCountOf({ messageAttributes }: Pick<SQSRecord, "messageAttributes">) {
  return present<{ readonly returns?: string }>({ returns: messageAttributes.returns?.stringValue });
}

/** Sends messages to the dead-letter queue, each with its reason. Returns false for a failed one, which SQS keeps. */
export async function rejectAll(
  messages: readonly (Pick<SQSRecord, "messageId"> &
    Omit<Outgoing, "delayInSeconds"> & { readonly reason: string })[],
  send: Send,
  deadLetterQueueUrl: string,
  log: Log,
): Promise<readonly boolean[]> {
  const sent = await send(
    deadLetterQueueUrl,
    messages.map(({ body, reason, returns, group, deduplication }) => ({
      ...{ body, reason },
      ...present({ returns, group, deduplication }),
    })),
  );
  return messages.map(({ messageId, body, reason }, index) => {
    const failed = sent[index];
    const correlationId = correlationIdIn(body);
    if (failed === undefined) log("MESSAGE_REJECTED", { messageId, correlationId, reason });
    else log("MESSAGE_FAILED", { messageId, correlationId, reason: failed.reason });
    return failed === undefined;
  });
}
