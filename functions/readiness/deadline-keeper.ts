import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { ReadinessRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { messageVisibility, Send } from "../../adapters/sqs/sqs-sender.ts";
import { waiting } from "../../domain/core/failures.ts";
import type { LoadState } from "../../domain/message/consequences.ts";
import { atDeadline, isWaitedFor } from "../../domain/readiness/readiness.ts";
import { readDeadline, secondsUntilCheck } from "../../domain/readiness/stored-readiness.ts";
import type { Log } from "../runtime/log.ts";
import { type Failed, handleEachRecord, rejectPermanent } from "../runtime/sqs-batch.ts";

/** Waits for an account's deadline, then announces that the account is incomplete, or ready after all. */
export function deadlineKeeper({
  records,
  loadState,
  clock,
  changeVisibility,
  send,
  queue,
  log,
}: {
  readonly records: ReadinessRecords;
  readonly loadState: LoadState;
  /** DynamoDB's clock, in milliseconds since 1970. */
  readonly clock: () => number;
  readonly changeVisibility: ReturnType<typeof messageVisibility>;
  readonly send: Send;
  readonly queue: { readonly url: string; readonly deadLetterUrl: string };
  readonly log: Log;
}): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const reject = rejectPermanent(send, queue.deadLetterUrl, log);
  return handleEachRecord(
    (record) => checkDeadline(record, records, loadState, clock),
    async (failed) => {
      const isEarly = ({ failure }: Failed) => failure.type === "retryable" && failure.waitsFor === "permit";
      const early = failed.filter(isEarly);
      // If this fails, a message reappears after the queue's visibility timeout.
      await changeVisibility(
        queue.url,
        early.map(({ record: { receiptHandle }, failure }) => ({
          receiptHandle,
          seconds: failure.type === "retryable" ? failure.delayInSeconds : 0,
        })),
      );
      const others = failed.filter((each) => !isEarly(each));
      const rejected = await reject(others);
      return failed.map((each) => rejected[others.indexOf(each)] ?? false);
    },
  );
}

async function checkDeadline(
  { body, attributes }: SQSRecord,
  records: ReadinessRecords,
  loadState: LoadState,
  clock: () => number,
): Promise<void> {
  const { subject, since } = readDeadline(body);
  await records.update(subject, async (stored) => {
    if (stored === undefined || !isWaitedFor(stored, since)) return undefined;
    if (clock() < stored.deadline) {
      const receives = Number(attributes.ApproximateReceiveCount);
      throw waiting("before the deadline", secondsUntilCheck(stored.deadline, receives, clock()), 0);
    }
    const [state, documents, failures] = await Promise.all([
      loadState(subject),
      records.documents(subject, stored.endpoints),
      records.failures(subject, stored),
    ]);
    const updated = atDeadline(stored, since, { state, documents, failures }, clock());
    // As after the first receive.
    if (updated === "held")
      throw waiting(
        "the account's state is unconfirmed",
        secondsUntilCheck(stored.deadline, 1, stored.since),
        0,
      );
    return updated === "settled" ? undefined : updated;
  });
}
