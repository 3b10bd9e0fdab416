import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { ServiceClock } from "../../adapters/aws/service-clock.ts";
import type { ReadinessRecords } from "../../adapters/dynamodb/readiness.ts";
import type { Hide } from "../../adapters/sqs/message-visibility.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { waiting } from "../../domain/core/failures.ts";
import type { LoadState } from "../../domain/message/user-of.ts";
import { atDeadline, isWaitedFor } from "../../domain/readiness/account-readiness.ts";
import { heldSeconds, readDeadline, secondsUntilLook } from "../../domain/readiness/deadline.ts";
import type { Log } from "../runtime/log.ts";
import { type Failed, handleEachRecord, rejectPermanent } from "../runtime/sqs-batch.ts";

export type DeadlineDependencies = {
  readonly records: ReadinessRecords;
  readonly loadState: LoadState;
  readonly clock: ServiceClock;
  readonly hide: Hide;
  readonly send: Send;
  readonly queue: { readonly url: string; readonly deadLetterUrl: string };
  readonly log: Log;
};

/** Waits for an account's deadline, then announces that the account is incomplete, or ready after all. */
export function deadlineKeeper(
  dependencies: DeadlineDependencies,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const { send, hide, queue, log } = dependencies;
  const reject = rejectPermanent(send, queue.deadLetterUrl, log);
  return handleEachRecord(
    (record) => keep(record, dependencies),
    async (failed) => {
      const isEarly = ({ failure }: Failed) => failure.type === "retryable" && failure.waitsFor === "permit";
      const early = failed.filter(isEarly);
      // If this fails, a message reappears after the queue's visibility timeout.
      await hide(
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

async function keep(
  { body, attributes }: SQSRecord,
  { records, loadState, clock }: DeadlineDependencies,
): Promise<void> {
  const { subject, since } = readDeadline(body);
  await records.update(subject, async (known) => {
    if (known === undefined || !isWaitedFor(known, since)) return undefined;
    if (clock() < known.deadline) {
      const receives = Number(attributes.ApproximateReceiveCount);
      throw waiting("before the deadline", secondsUntilLook(known.deadline, receives, clock()), 0);
    }
    const [state, documents, failures] = await Promise.all([
      loadState(subject),
      records.documents(subject, known.endpoints),
      records.failures(subject, known),
    ]);
    const next = atDeadline(known, since, { state, documents, failures }, clock());
    if (next === "held") throw waiting("the account is in doubt", heldSeconds, 0);
    return next === "settled" ? undefined : next;
  });
}
