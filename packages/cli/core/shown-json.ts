import { isNameOrDate, mask } from "../../../domain/core/mask.ts";
import { isUuid } from "../../../domain/event/canonical-id.ts";
import { isTooDeep } from "../../../domain/event/json.ts";
import { losslessValue } from "../../../domain/event/lossless-json.ts";

export type Showing = {
  /** Whether personal data is shown. */
  readonly reveal: boolean;
  /** Ids, which are always shown. */
  readonly ids: readonly (string | undefined)[];
  /** Whether it is the body of a webhook or a task: what names its event, its state and its dates is shown. */
  readonly isMessage?: boolean;
};

/** Fields of webhooks and tasks that hold no personal data, by the names that providers use. */
const openMembers: ReadonlySet<string> = new Set([
  ...["action", "event", "type", "kind", "task", "endpoint", "status", "state", "outcome"],
  ...["connected", "data_available", "dataAvailable"],
  ...["created_at", "updated_at", "date_start", "date_end", "start", "end", "since", "time", "receivedAt"],
]);

/** The subject of our own messages: `account/ID`, or with what follows. */
const subjectName = /^(user|account|company-account)\/[\w%.~-]+(\/[\w%.~-]+)*$/;

/** Fields that hold an event's name, state, dates, or an id. */
function isOpen(name: string, value: unknown): boolean {
  if (openMembers.has(name)) return isNameOrDate(value);
  if (typeof value !== "string") return false;
  return name === "subject" ? subjectName.test(value) : /(^id|_id|Id)$/.test(name) && isUuid(value);
}

/** A JSON text as a value that can be printed: masked, or as it is with all digits of its numbers. */
export function shownJson(text: string, { reveal, ids, isMessage = false }: Showing): unknown {
  // As a value it would end what prints it, and hide what is shown beside it.
  if (reveal && isTooDeep(text)) return text;
  const value = tryTo(() => (reveal ? losslessValue(text) : JSON.parse(text)), text);
  const shown = new Set(ids.filter((id) => id !== undefined));
  return reveal ? value : mask(value, { shown, ...(isMessage && { isOpen }) });
}

/** Text that is not JSON is treated as one string. */
function tryTo(parse: () => unknown, text: string): unknown {
  try {
    return parse();
  } catch {
    return text;
  }
}
