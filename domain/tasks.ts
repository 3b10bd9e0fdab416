import { type DataName, parseDataName } from "./data-name.ts";
import { permanent } from "./failures.ts";
import { jsonText } from "./json-text.ts";
import { fieldsOf, isFields, numberOf, optionalText, parseJson, present } from "./parse.ts";
import { parseReadProgress, type ReadProgress } from "./read-progress.ts";
import { parseSubject, type Subject } from "./subjects.ts";

/** The version of tasks that this release writes and reads. */
export const taskVersion = 1;

/** What is to be called at the provider: start a data fetch, read an endpoint's data, ask for a state. */
export type Task = {
  readonly schemaVersion: typeof taskVersion;
  readonly attempts: number;
  /** Since when the provider has failed it, ISO 8601; absent while nothing has failed. */
  readonly since?: string;
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
);

/** The tasks of one kind. */
export type TaskOf<Name extends Task["task"]> = Extract<Task, { task: Name }>;

export function startTask(subject: Subject, version: number): Task {
  return { schemaVersion: taskVersion, attempts: 0, task: "start", subject, version };
}

export function readTask(subject: Subject, { endpoint, range }: DataName, wanted: number): Task {
  const name = range === undefined ? { endpoint } : { endpoint, range };
  return { schemaVersion: taskVersion, attempts: 0, task: "read", subject, ...name, wanted };
}

export function askTask(subject: Subject, version: number): Task {
  return { schemaVersion: taskVersion, attempts: 0, task: "ask", subject, version };
}

export function writeTask(task: Task): string {
  return jsonText(task);
}

/** @throws permanent failure naming the field */
export function readTaskText(text: string): Task {
  const fields = fieldsOf(parseJson(text, "the task"), "the task");
  if (fields.schemaVersion !== taskVersion) throw permanent(`schemaVersion: expected ${taskVersion}`);
  const subject = parseSubject(fields.subject);
  const common = {
    schemaVersion: taskVersion,
    attempts: numberOf(fields, "attempts"),
    ...present({ since: optionalText(fields, "since") }),
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
    default:
      throw permanent("task: expected start, read or ask");
  }
}
