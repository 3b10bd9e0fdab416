import { type Fields, isFields, optionalText, parseJson } from "../core/parse.ts";
import { type Envelope, readEnvelope } from "../event/envelope.ts";
import { isWebhookKind } from "../event/events.ts";
import { nameOf, parseSubject } from "../event/subjects.ts";
import { readEraseTask } from "./erasure.ts";

/**
 * The content of a dead letter, as far as its body can be read. It may come from any release or another
 * sender.
 */
export type DeadLetterContent = {
  /** `users event`, `fetchDocument task`, `erasure`, a message's type, or `unreadable`. */
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

/** Ignores unreadable bodies, because an unreadable body may be the reason for the dead letter. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
