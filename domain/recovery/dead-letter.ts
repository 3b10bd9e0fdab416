/** A message that could not be processed, from a dead-letter queue or the archive of dead letters. */
export type DeadLetter = {
  /** SQS's message id. It stays when SQS moves a message and changes when a message is sent again. */
  readonly messageId: string;
  /** When it was sent to its original queue, or by our own code to the dead-letter queue. */
  readonly sentAt: Date;
  readonly receives: number;
  readonly body: string;
  /** The reason that our own code gave; absent if SQS moved it after its queue's maximum receives. */
  readonly reason?: string;
  /** See `redrive-count.ts`; absent if it was never redriven. */
  readonly returns?: string;
};

/** The result of checking a batch of dead letters. */
export type Handled = {
  /** These are removed; the others stay. */
  readonly done: readonly DeadLetter[];
  /** Whether to stop reading. */
  readonly isEnough: boolean;
};

/**
 * A source of dead letters. It returns each one once, in batches of at most ten, and leaves those unchanged
 * that are not `done`.
 */
export type DeadLetterSource = (
  handle: (deadLetters: readonly DeadLetter[]) => Promise<Handled>,
) => Promise<SourceResult>;

export type SourceResult = {
  /** Number that could not be removed and will be returned again. */
  readonly notRemoved: number;
  /** Whether there may be more: another reader holds some, or the reader stopped early. */
  readonly mayHaveMore: boolean;
  /** Number of objects that S3 refused to return; absent if none. */
  readonly refused?: number;
};

/** When a queue drops a message. A standard queue counts from the original send, even after SQS moved it. */
export function endOf({ sentAt }: Pick<DeadLetter, "sentAt">, retentionSeconds: number): Date {
  return new Date(sentAt.getTime() + retentionSeconds * 1000);
}
