import { type Fields, isFields, optionalText, parseJson } from "../core/parse.ts";
import { type Envelope, readEnvelope } from "../event/envelope.ts";
import { isWebhookKind } from "../event/events.ts";
import { nameOf, parseSubject } from "../event/subjects.ts";
import { taskName } from "../fetch/task.ts";
import { readEraseTask } from "./erasure.ts";

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
  /** Absent if it was never redriven. */
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

/**
 * How often a dead letter was redriven, and by which run last. It is stored in one message attribute, `3
 * <run>`. Our own functions pass it on and SQS keeps it, so that a message that fails again still has it.
 */
export type RedriveCount = { readonly count: number; readonly run: string | undefined };

/** @param text value of the attribute; an invalid one counts as never redriven */
export function readRedriveCount(text: string | undefined): RedriveCount {
  const [, count = "0", run] = /^(\d{1,9}) (\S+)$/.exec(text ?? "") ?? [];
  return { count: Number(count), run };
}

/** The attribute's value for the next redrive. */
export function nextRedriveCount(text: string | undefined, run: string): string {
  return `${readRedriveCount(text).count + 1} ${run}`;
}

/**
 * The content of a dead letter, as far as its body can be read. It may come from any release or another
 * sender.
 */
export type DeadLetterContent = {
  /** `users event`, `document fetch task`, `erasure`, a message's type, or `unreadable`. */
  readonly what: string;
  /** Id of the event or message; the subject of a task or erasure. */
  readonly id?: string;
  /** Present for an event that this release can read. */
  readonly envelope?: Envelope;
};

export function contentOfDeadLetter(body: string): DeadLetterContent {
  const fields = orUndefined(() => parseJson(body, "the dead letter"));
  if (!isFields(fields)) return { what: "unreadable" };
  const content =
    eventContent(fields, body) ?? taskContent(fields) ?? messageContent(fields) ?? erasureContent(body);
  return content ?? { what: "unreadable" };
}

function eventContent({ kind, id }: Fields, text: string): DeadLetterContent | undefined {
  if (!isWebhookKind(kind) || typeof id !== "string") return undefined;
  const envelope = orUndefined(() => readEnvelope(text));
  return { what: `${kind} event`, id, ...(envelope && { envelope }) };
}

function taskContent({ type, subject: whose }: Fields): DeadLetterContent | undefined {
  const subject = orUndefined(() => parseSubject(whose));
  if (typeof type !== "string" || subject === undefined) return undefined;
  return { what: `${taskName(type)} task`, id: nameOf(subject) };
}

function messageContent(fields: Fields): DeadLetterContent | undefined {
  const [type, id] = [optionalText(fields, "type"), optionalText(fields, "id")];
  if (fields.specversion === undefined || type === undefined || id === undefined) return undefined;
  return { what: type, id };
}

function erasureContent(text: string): DeadLetterContent | undefined {
  const task = orUndefined(() => readEraseTask(text));
  return task && { what: "erasure", id: nameOf(task.subject) };
}

/** Ignores unreadable bodies, because an unreadable body may be the reason for the dead letter. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
