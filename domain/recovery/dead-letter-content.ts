import { type Fields, isFields, optionalText, parseJson } from "../core/parse.ts";
import { type Envelope, readEnvelope } from "../event/envelope.ts";
import { isWebhookKind } from "../event/events.ts";
import { nameOf, parseSubject } from "../event/subjects.ts";
import { readEraseTask } from "./erasure.ts";

/** What a dead letter is about, as far as its body reports: it may be of any release, or of nobody that we know. */
export type DeadLetterContent = {
  /** `users event`, `fetchDocument task`, `erasure`, a message's type, or `unreadable`. */
  readonly what: string;
  /** Of an event or a message; of a task or an erasure whom it is about. */
  readonly id?: string;
  /** Of an event that this release can read. */
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
  return { what: `${type} task`, id: nameOf(subject) };
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

/** What can't be read is nothing here: a dead letter lies where it does for some reason. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
