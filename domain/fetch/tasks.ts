import { permanent } from "../core/failures.ts";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
} from "../core/parse.ts";
import { parseTimestamp } from "../core/timestamps.ts";
import { jsonText } from "../event/json-text.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import { checkSchemaVersion } from "../message/schema-version.ts";
import { type DataName, parseDataName } from "./document-name.ts";
import { parseReadProgress, type ReadProgress } from "./read-progress.ts";

/** The version of tasks that this release writes. */
export const taskVersion = 1;

/**
 * What is to be called at the provider: start a data fetch, read an endpoint's data, ask for a state; or check, when it
 * is `due` (ISO 8601), that events have answered a start. `wanted` is what each endpoint had been requested before it.
 */
export type Task = {
  readonly schemaVersion: typeof taskVersion;
  readonly attempts: number;
  /** Since when the provider has failed it, ISO 8601; absent while nothing has failed. */
  readonly since?: string;
  /** Of what led to it, see `correlationOf`; absent where an earlier release wrote it. */
  readonly correlationId?: string;
} & (
  | { readonly task: "start"; readonly subject: Subject; readonly version: number }
  | ({
      readonly task: "read";
      readonly subject: Subject;
      readonly wanted: number;
      /** Absent: nothing is read yet. */
      readonly progress?: ReadProgress;
    } & DataName)
  | { readonly task: "ask"; readonly subject: Subject; readonly version: number }
  | ({ readonly task: "check"; readonly subject: Subject; readonly version: number } & Unanswered)
);

type Unanswered = { readonly wanted: Readonly<Record<string, number>>; readonly due: string };

/** The tasks of one kind. */
export type TaskOf<Name extends Task["task"]> = Extract<Task, { task: Name }>;

export function startTask(subject: Subject, version: number, correlationId?: string): Task {
  return { ...newTask(correlationId), task: "start", subject, version };
}

export function readTask(
  subject: Subject,
  { endpoint, range }: DataName,
  wanted: number,
  correlationId?: string,
): Task {
  const name = range === undefined ? { endpoint } : { endpoint, range };
  return { ...newTask(correlationId), task: "read", subject, ...name, wanted };
}

export function fetchStateTask(subject: Subject, version: number, correlationId?: string): Task {
  return { ...newTask(correlationId), task: "ask", subject, version };
}

/** Checks, when it is due, the start that was called for a state's version. */
export function verifyStartTask(
  subject: Subject,
  version: number,
  wanted: Readonly<Record<string, number>>,
  { due, correlationId }: { readonly due: Date; readonly correlationId?: string | undefined },
): Task {
  return { ...newTask(correlationId), task: "check", subject, version, wanted, due: due.toISOString() };
}

function newTask(correlationId: string | undefined) {
  return { schemaVersion: taskVersion, attempts: 0, ...present({ correlationId }) } as const;
}

/** A task as if it had never been tried: redriven, it is not given up at once. */
export function resetAttempts({ since: _, ...task }: Task): Task {
  return { ...task, attempts: 0 };
}

export function writeTask(task: Task): string {
  return jsonText(task);
}

/** @throws permanent failure naming the field; a retryable one where it is of a later release */
export function readTaskText(text: string): Task {
  const fields = fieldsOf(parseJson(text, "the task"), "the task");
  checkSchemaVersion(fields.schemaVersion, taskVersion);
  const subject = parseSubject(fields.subject);
  const common = {
    schemaVersion: taskVersion,
    attempts: numberOf(fields, "attempts"),
    ...present({
      since: optionalText(fields, "since"),
      correlationId: optionalText(fields, "correlationId"),
    }),
    subject,
  } as const;
  switch (fields.task) {
    case "start":
    case "ask":
      return { ...common, task: fields.task, version: numberOf(fields, "version") };
    case "read":
      return {
        ...common,
        task: "read",
        ...parseDataName(fields),
        wanted: numberOf(fields, "wanted"),
        ...(isFields(fields.progress) ? { progress: parseReadProgress(fields.progress) } : {}),
      };
    case "check":
      return { ...common, task: "check", version: numberOf(fields, "version"), ...parseUnanswered(fields) };
    default:
      throw permanent("task: expected start, read, ask or check");
  }
}

function parseUnanswered(fields: Fields): Unanswered {
  const counts = fieldsOf(fields.wanted, "wanted");
  const due = parseTimestamp(textOf(fields, "due"));
  if (due === undefined) throw permanent("due: expected a date-time");
  return {
    wanted: Object.fromEntries(Object.keys(counts).map((endpoint) => [endpoint, numberOf(counts, endpoint)])),
    due,
  };
}
