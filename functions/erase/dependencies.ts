import type { ErasableRecords } from "../../adapters/erasure/erasable-records.ts";
import type { WriteErasureLog } from "../../adapters/erasure/erasure-log.ts";
import type { KeepReport } from "../../adapters/erasure/erasure-report.ts";
import type { DigestOf } from "../../adapters/erasure/subject-digest.ts";
import type { TakeSweep } from "../../adapters/erasure/sweep-lease.ts";
import type { Tombstones } from "../../adapters/erasure/tombstones.ts";
import type { ObjectEraser } from "../../adapters/s3/object-eraser.ts";
import type { LookAtObject } from "../../adapters/s3/overflow-bucket.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { RemoveUndelivered } from "../../adapters/streams/undelivered-changes.ts";
import type { DeadLetterPlace } from "../../domain/recovery/dead-letter.ts";
import type { EraseTask } from "../../domain/recovery/erasure.ts";
import type { Log } from "../runtime/log.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";

export type EraserDependencies = {
  readonly digestOf: DigestOf;
  readonly tombstones: Tombstones;
  readonly writeLog: WriteErasureLog;
  readonly records: ErasableRecords;
  /** Of the bucket of bodies and data. */
  readonly objects: ObjectEraser;
  /** Of the same bucket: bodies that dead letters point to. */
  readonly bodies: { readonly look: LookAtObject };
  /**
   * Where the dead letters of each queue lie, by its name: in a queue, which is looked at first, and in the archive. The
   * time that is left is that of the invocation.
   */
  readonly deadLetters: (
    secondsLeft: () => number,
  ) => Promise<readonly (readonly [string, readonly DeadLetterPlace[]])[]>;
  /** One run at a time looks through dead letters. */
  readonly takeSweep: TakeSweep;
  /** So much later dead letters that another reader holds are looked at again; not the same for two erasures. */
  readonly recheckSeconds: () => number;
  readonly removeUndelivered: RemoveUndelivered;
  readonly publish: Publish;
  readonly keepReport: KeepReport;
  readonly send: Send;
  /** The eraser's own. */
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  /** So long after its records were removed a function in flight can still write, or hold dead letters. */
  readonly drainSeconds: number;
  /** The `source` of subscribers' messages. */
  readonly eventSource: string;
  readonly log: Log;
};

/** What a step works with: the function's time ends. */
export type StepDependencies = EraserDependencies & {
  readonly secondsLeft: () => number;
  /** Whether a step should look for nothing more. */
  readonly isTimeOver: () => boolean;
};

/** What a step leaves to be done, not sooner than so many seconds from now. */
export type NextStep = { readonly task: EraseTask; readonly afterSeconds: number };
