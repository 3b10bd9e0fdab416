import { mask } from "../../../domain/core/mask.ts";
import { jsonIn } from "../../../domain/core/parse.ts";
import { isTooDeep } from "../../../domain/event/json.ts";
import { losslessValue } from "../../../domain/event/lossless-json.ts";
import { isNameOrDate } from "../../../domain/event/mapping.ts";
import { isUuid } from "../../../domain/event/subjects.ts";

export type Showing = {
  /** Whether to show personal data. */
  readonly reveal: boolean;
  /** Ids, which are always shown. */
  readonly ids: readonly (string | undefined)[];
  /** Whether it is the body of a webhook or a task, whose event name, state and dates are shown. */
  readonly isMessage?: boolean;
};

/** Fields of webhooks and tasks that hold no personal data, by the names that providers use. */
const openMembers: ReadonlySet<string> = new Set([
  ...["action", "event", "type", "kind", "task", "endpoint", "status", "state", "outcome"],
  ...["connected", "data_available", "dataAvailable"],
  ...["created_at", "updated_at", "date_start", "date_end", "start", "end", "since", "time", "receivedAt"],
]);

/** Fields with an operator's own data about a user, such as a loan's id, which may be a UUID. */
const closed: ReadonlySet<string> = new Set(["metadata", "attributes"]);

/** The subject of the pipeline's messages: `account/ID`, possibly with a suffix. */
const subjectName = /^(user|account|company-account)\/[\w%.~-]+(\/[\w%.~-]+)*$/;

/** Fields that hold an event's name, state, dates, or an id. */
function isOpen(name: string, value: unknown): boolean {
  if (openMembers.has(name)) return isNameOrDate(value);
  if (typeof value !== "string") return false;
  return name === "subject" ? subjectName.test(value) : /(^id|_id|Id)$/.test(name) && isUuid(value);
}

/** JSON text as a printable value: masked, or unchanged with all digits of its numbers. */
export function shownJson(text: string, { reveal, ids, isMessage = false }: Showing): unknown {
  if (reveal) return exactValue(text);
  const value = jsonIn(text);
  const shown = new Set(ids.filter((id) => id !== undefined));
  return mask(value === undefined ? text : value, { shown, closed, ...(isMessage && { isOpen }) });
}

/** Text that is not JSON, or is nested too deeply to be printed, is one string. */
export function exactValue(text: string): unknown {
  if (isTooDeep(text)) return text;
  try {
    return losslessValue(text);
  } catch {
    return text;
  }
}
