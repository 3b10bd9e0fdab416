import { isKind } from "./events.ts";
import { type Fields, isFields, optionalText } from "./parse.ts";

/** What a dead letter is about, as far as its body tells: it may be of any release, or of nobody that we know. */
export type LetterContent = {
  /** `users event`, `read task`, a message's type, or `unreadable`. */
  readonly what: string;
  /** Of an event or a message; of a task the subject. */
  readonly id?: string;
  /** Of a task: how often it failed. */
  readonly attempts?: number;
  /** What came in the first place, for an event the webhook's own body: JSON, or a text that is none. */
  readonly payload: unknown;
};

export function contentOfLetter(body: string): LetterContent {
  const value = jsonOrText(body);
  if (!isFields(value)) return { what: "unreadable", payload: value };
  return (
    eventContent(value) ??
    taskContent(value) ??
    messageContent(value) ?? { what: "unreadable", payload: value }
  );
}

function eventContent({ kind, id, body }: Fields): LetterContent | undefined {
  if (!isKind(kind) || typeof id !== "string" || !isFields(body)) return undefined;
  const payload = body.as === "text" && typeof body.text === "string" ? jsonOrText(body.text) : body;
  return { what: `${kind} event`, id, payload };
}

function taskContent(fields: Fields): LetterContent | undefined {
  const { task, subject, attempts } = fields;
  if (typeof task !== "string" || !isFields(subject)) return undefined;
  const id = `${subject.kind}/${subject.id}`;
  return { what: `${task} task`, id, ...(typeof attempts === "number" && { attempts }), payload: fields };
}

function messageContent(fields: Fields): LetterContent | undefined {
  const [type, id] = [optionalText(fields, "type"), optionalText(fields, "id")];
  if (fields.specversion === undefined || type === undefined || id === undefined) return undefined;
  return { what: type, id, payload: fields };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
