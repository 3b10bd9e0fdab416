import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import type { subjectDigest } from "../../adapters/erasure/find-erased.ts";
import type { StepOutcome, tombstones } from "../../adapters/erasure/tombstones.ts";
import type { objectEraser } from "../../adapters/s3/object-eraser.ts";
import type { ObjectBucket } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { RemovedChanges } from "../../adapters/streams/undelivered-changes.ts";
import type { DeadLetterSource } from "../../domain/recovery/dead-letter.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";
import type { Log } from "../runtime/log.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";

export type EraserDependencies = {
  readonly digestOf: ReturnType<typeof subjectDigest>;
  readonly tombstones: ReturnType<typeof tombstones>;
  /** Records an erased subject outside the table, so that a restore from a backup erases it again. */
  readonly writeLog: (digest: string, erasedAt: string) => Promise<void>;
  readonly records: ErasableRecords;
  /** Objects in the bucket of bodies and data. */
  readonly objects: ReturnType<typeof objectEraser>;
  /** Reads bodies that dead letters point to, from the same bucket. */
  readonly bodies: Pick<ObjectBucket, "tryGet">;
  /**
   * The sources of each queue's dead letters, by queue name: the queue first, then the archive.
   * `secondsLeft` returns the invocation's remaining time.
   */
  readonly deadLetters: (
    secondsLeft: () => number,
  ) => Promise<readonly (readonly [string, readonly DeadLetterSource[]])[]>;
  /**
   * Lets only one run at a time search dead letters, for at most this many seconds.
   * @returns a function that releases the lease; undefined if another run holds it
   */
  readonly takeSweepLease: (seconds: number) => Promise<(() => Promise<void>) | undefined>;
  /** Delay before the next search of dead letters that another reader holds; random for each erasure. */
  readonly recheckSeconds: () => number;
  /** Removes undelivered changes. @param isUnwanted called with a record as text */
  readonly removeUndelivered: (
    isUnwanted: (record: string) => boolean,
    options?: { readonly isDryRun: boolean },
  ) => Promise<RemovedChanges>;
  readonly publish: Publish;
  /** Stores the erasure's report after a step. */
  readonly writeReport: (task: EraseTask, outcome: StepOutcome) => Promise<void>;
  readonly send: Send;
  /** The eraser's own queue. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** Maximum time until every function sees a new tombstone. */
  readonly settleSeconds: number;
  /** Time after records are removed in which running functions can still write or hold dead letters. */
  readonly drainSeconds: number;
  /** The `source` of subscribers' messages. */
  readonly eventSource: string;
  readonly log: Log;
};

/** The invocation's remaining time. */
export type TimeLeft = {
  readonly seconds: () => number;
  /** Whether a step should stop searching. */
  readonly isOver: () => boolean;
};

/** The task of the next step, and the minimum delay before it. */
export type NextStep = { readonly task: EraseTask; readonly afterSeconds: number };
