import { isRawNumber } from "../../../domain/event/lossless-json.ts";
import { oneLine } from "../core/printable.ts";
import { tableText } from "../core/table.ts";
import type { EventTrial, Trial } from "./trial.ts";

/** A trial for people: the value of each field, and the event; for a list, one event after the other. */
export function trialText(trial: Trial): string {
  if (!("events" in trial)) return eventText(trial);
  const texts = trial.events.map(
    (event, index) => `Event ${index + 1} of ${trial.events.length}\n${eventText(event)}`,
  );
  return texts.length === 0
    ? `${trial.kind}: no event, for the list of events is empty.`
    : texts.join("\n\n");
}

function eventText(trial: EventTrial): string {
  const rows = trial.fields.map(({ field, source, gave, fault, readAs }) => [
    field,
    typeof source === "string" ? source : `header ${source.header}`,
    valueText(gave),
    fault ?? (readAs === undefined ? "" : `read as ${readAs}`),
  ]);
  const table = rows.length === 0 ? [] : [tableText(["FIELD", "WHERE", "GAVE", "NOTE"], rows), ""];
  return [...table, outcomeText(trial)].join("\n");
}

function outcomeText(trial: EventTrial): string {
  if (!trial.mapped) return `No event of ${trial.kind}: ${trial.reason}.\n${oneLine(trial.remedy)}`;
  if ("ignored" in trial) return `${ignoredText(trial)}.`;
  const facts = Object.entries(trial.event).map(([name, value]) => [name, String(value)]);
  const unordered =
    "It has neither an id nor a time, so the same bytes may announce another change: the state is fetched.";
  return [
    `An event of ${trial.kind}, with the identity ${trial.id}:`,
    tableText(["", ""], facts).trim(),
    ...(trial.isUnordered ? [unordered] : []),
  ].join("\n");
}

/** A trial in one line, for tables of several. */
export function trialLine(trial: Trial): string {
  if ("events" in trial) {
    const mapped = trial.events.filter((event) => event.mapped);
    return `${trial.kind}: a list of events, of which ${mapped.length} of ${trial.events.length} are mapped or ignored`;
  }
  if (!trial.mapped) return `${trial.kind}: no event, ${trial.reason}. ${oneLine(trial.remedy)}`;
  return "ignored" in trial ? ignoredText(trial) : `${trial.kind}: ${trial.event.type}`;
}

export function ignoredText({ kind, ignored }: { readonly kind: string; readonly ignored: string }): string {
  return `${kind}: ignored by mapping.${kind}.types: ${oneLine(JSON.stringify(ignored))}`;
}

/** Maximum length; event names are shown whole. */
const longest = 128;

function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const isRaw = isRawNumber(value);
  if (typeof value === "object" && !isRaw) return "an object";
  const text = isRaw ? value.rawJSON : String(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
