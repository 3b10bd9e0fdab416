import { createHash } from "node:crypto";
import { permanent } from "../core/failures.ts";
import { fieldsOf, numberOf, optionalText, parseJson, present, textOf } from "../core/parse.ts";
import { jsonText } from "../event/json-text.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import { checkSchemaVersion } from "../message/schema-version.ts";
import { type DataName, parseDataName } from "./document-name.ts";

/** The version of tasks that this release writes. */
export const fetchTaskVersion = 2;

/** What every task of the fetch queue carries. */
type Common = {
  readonly schemaVersion: typeof fetchTaskVersion;
  readonly subject: Subject;
  /** Whose the subject is, where that is known: nothing is called for who was erased. */
  readonly userId?: string;
  /** What led to it, and which receipt or run of that: the same cause sends the same task. */
  readonly cause: string;
  /** Of what led to it, see `correlationOf`. */
  readonly correlationId?: string;
};

/** Reads a document. `since` (milliseconds since 1970): it is void once the document was read after that. */
export type DocumentTask = Common & DataName & { readonly type: "fetchDocument"; readonly since: number };

/**
 * Starts a data fetch, asks for a state, or verifies that a start was answered; `version` is that of the state that led to
 * it. A check counts from when SQS took its message, which is sent once the provider has taken the start.
 */
export type StateTask = Common & {
  readonly type: "startFetch" | "fetchState" | "verifyStart";
  readonly version: number;
};

/** What is to be called at the provider. */
export type FetchTask = DocumentTask | StateTask;

/** Why a task is sent. */
export type TaskCause = {
  readonly cause: string;
  readonly correlationId?: string | undefined;
  readonly userId?: string | undefined;
};

/** The cause of what one receipt of an event leads to. */
export function receiptCause(eventId: string, receipt: number): string {
  return `${eventId}.${receipt}`;
}

export function documentTask(
  subject: Subject,
  { endpoint, range }: DataName,
  since: number,
  cause: TaskCause,
): DocumentTask {
  return { ...common(subject, cause), type: "fetchDocument", endpoint, ...present({ range }), since };
}

/** @param version of the state that led to it */
export function stateTask(
  task: StateTask["type"],
  subject: Subject,
  version: number,
  ids: Omit<TaskCause, "cause">,
): StateTask {
  return { ...common(subject, { ...ids, cause: String(version) }), type: task, version };
}

function common(subject: Subject, { cause, correlationId, userId }: TaskCause): Common {
  return { schemaVersion: fetchTaskVersion, subject, cause, ...present({ correlationId, userId }) };
}

/** Everyone whom a task is about: nothing is called for who was erased. */
export function subjectsOf({ subject, userId }: Pick<FetchTask, "subject" | "userId">): readonly Subject[] {
  return userId === undefined ? [subject] : [subject, { kind: "user", id: userId }];
}

export function writeTask(task: FetchTask): string {
  return jsonText(task);
}

/** @throws permanent failure naming the field; a retryable one where it is of a later release */
export function readTask(text: string): FetchTask {
  const fields = fieldsOf(parseJson(text, "the task"), "the task");
  checkSchemaVersion(fields.schemaVersion, fetchTaskVersion);
  const given = common(parseSubject(fields.subject), {
    cause: textOf(fields, "cause"),
    correlationId: optionalText(fields, "correlationId"),
    userId: optionalText(fields, "userId"),
  });
  switch (fields.type) {
    case "startFetch":
    case "fetchState":
    case "verifyStart":
      return { ...given, type: fields.type, version: numberOf(fields, "version") };
    case "fetchDocument":
      return { ...given, ...parseDataName(fields), type: "fetchDocument", since: numberOf(fields, "since") };
    default:
      throw permanent("type: expected fetchDocument, startFetch, fetchState or verifyStart");
  }
}

/**
 * Merges tasks of the same document into the one with the greatest `since`, which covers the others. Equal ones are told
 * apart by their cause, so that a deduplication id never stands for tasks of different `since`.
 */
export function mergeTasks(tasks: readonly FetchTask[]): readonly FetchTask[] {
  const merged = new Map<string, FetchTask>();
  for (const task of tasks) {
    const key = mergeKeyOf(task);
    const known = merged.get(key);
    if (known === undefined || isLater(task, known)) merged.set(key, task);
  }
  return [...merged.values()];
}

/** Tasks of one key are merged. */
export function mergeKeyOf(task: FetchTask): string {
  return task.type === "fetchDocument" ? groupOf(task) : deduplicationOf(task);
}

function isLater(task: FetchTask, known: FetchTask): boolean {
  if (task.type !== "fetchDocument" || known.type !== "fetchDocument") return false;
  return task.since === known.since ? task.cause > known.cause : task.since > known.since;
}

/** The message group of a task: SQS hands out one batch of a group at a time. A digest, for ids exceed what a group's may be. */
export function groupOf(task: FetchTask): string {
  return digestOf(partsOf(task));
}

/**
 * The deduplication id of a task. It names the cause: by document alone, SQS would swallow the next event's task for five
 * minutes.
 * @param deadLetter the message id of the dead letter that is redriven: SQS would swallow what it took lately
 */
export function deduplicationOf(task: FetchTask, deadLetter?: string): string {
  return digestOf([...partsOf(task), task.cause, ...(deadLetter === undefined ? [] : [deadLetter])]);
}

function partsOf(task: FetchTask): readonly string[] {
  const { kind, id } = task.subject;
  if (task.type !== "fetchDocument") return [task.type, kind, id];
  const { endpoint, range } = task;
  return [task.type, kind, id, endpoint, ...(range === undefined ? ["", ""] : [range.start, range.end])];
}

/** JSON sets the parts apart whatever they hold. */
function digestOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
