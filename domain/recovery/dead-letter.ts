/** A message that could not be processed, as it lies in a dead-letter queue or in the archive of these. */
export type DeadLetter = {
  /** SQS's id: it stays when SQS itself moves a message, and is another after each sending. */
  readonly messageId: string;
  /** When it was sent to the queue that it came from, or by our own code to the dead-letter queue. */
  readonly sentAt: Date;
  readonly receives: number;
  readonly body: string;
  /** What our own code said; absent where SQS moved it, after as many receives as its queue allows. */
  readonly reason?: string;
  /** See `returns.ts`; absent where it was never redriven. */
  readonly returns?: string;
};

/** What becomes of the dead letters that were looked at. */
export type Looked = {
  /** They are taken away; the others stay where they lie. */
  readonly done: readonly DeadLetter[];
  /** Nothing further is to be looked at. */
  readonly isEnough: boolean;
};

/**
 * A place where dead letters lie. It shows each of them once, in batches of ten at most, and leaves those that are not
 * `done` as they were.
 */
export type DeadLetterPlace = (
  look: (deadLetters: readonly DeadLetter[]) => Promise<Looked>,
) => Promise<PlaceSeen>;

export type PlaceSeen = {
  /** How many could not be taken away: they will be seen again. */
  readonly notTaken: number;
  /** Others may have been there that were not shown: another reader holds them, or it was enough before. */
  readonly mayHide: boolean;
  /** How many S3 refused to give; absent: none. */
  readonly refused?: number;
};

/** When a queue drops a message: a standard queue counts from its sending, also after SQS moved it to another. */
export function endOf({ sentAt }: Pick<DeadLetter, "sentAt">, retentionSeconds: number): Date {
  return new Date(sentAt.getTime() + retentionSeconds * 1000);
}
