import { FailureError, failureOf } from "../../../domain/core/failures.ts";
import { isFields, present } from "../../../domain/core/parse.ts";
import { readTime } from "../../../domain/core/timestamps.ts";
import { identify } from "../../../domain/event/envelope.ts";
import {
  type EventAttributes,
  isUnordered,
  subjectKindOf,
  type WebhookKind,
  webhookEventTypes,
} from "../../../domain/event/events.ts";
import { isRawNumber } from "../../../domain/event/lossless-json.ts";
import {
  deliveryOf,
  factAt,
  foundAt,
  headersOf,
  ignored as ignoredType,
  type KindMapping,
  type MappedField,
  mappedFields,
  type Search,
  typeOf,
} from "../../../domain/event/mapping.ts";
import { type MappingSource, pickHeaders } from "../../../domain/event/mapping-source.ts";
import {
  eventSources,
  type MappedEvent,
  mapWebhook,
  type Webhook,
} from "../../../domain/event/webhook-events.ts";
import { tableText } from "../core/table.ts";
import { oneLine } from "../core/text.ts";
import { readSample, type Sample } from "./sample.ts";

type Field = "type" | MappedField;
const allFields: readonly Field[] = ["type", ...mappedFields];

/** The result of applying a mapping's field to a webhook. */
export type FieldTrial = {
  readonly field: Field;
  readonly source: MappingSource;
  readonly gave: unknown;
  readonly fault?: string;
  /** The recognized form of a time. */
  readonly readAs?: string;
};

/** The event that a webhook becomes, or the reason why there is none. */
export type EventTrial = { readonly kind: WebhookKind; readonly fields: readonly FieldTrial[] } & (
  | {
      readonly mapped: true;
      readonly id: string;
      readonly event: EventAttributes;
      readonly isUnordered: boolean;
    }
  | { readonly mapped: true; readonly ignored: string }
  | { readonly mapped: false; readonly reason: string; readonly remedy: string }
);

/** A webhook with a list of events. It counts as mapped if each event is mapped or ignored. */
export type ListTrial = {
  readonly kind: WebhookKind;
  readonly fields: readonly [];
  readonly events: readonly EventTrial[];
} & (
  | { readonly mapped: true }
  /** Reason and remedy of the first event that is not mapped. */
  | { readonly mapped: false; readonly reason: string; readonly remedy: string }
);

export type Trial = EventTrial | ListTrial;

type Tried = {
  readonly mapping: KindMapping;
  readonly webhook: Webhook;
  readonly search: Search;
};

/** Maps a sample as if it were received now, like receiver and consumer of its kind. It never throws. */
export function tryMapping(kind: WebhookKind, mapping: KindMapping, sample: Sample, search: Search): Trial {
  const headers = pickHeaders(headersOf(mapping), sample.headers);
  const read = readSample({ ...sample, headers });
  const refused = { kind, mapped: false, fields: [] } as const;
  if ("refused" in read) {
    const remedy = "Give the body as the provider sends it: JSON in UTF-8.";
    return { ...refused, reason: `the body is ${read.refused}`, remedy };
  }
  const id = identify(kind, sample.bytes, headers);
  const webhook: Webhook = { kind, id, headers, receivedAt: new Date().toISOString() };
  const tried = { mapping, webhook, search };
  const events = attempt(() => mapWebhook(mapping, webhook, read.body, search));
  if ("fault" in events) {
    const remedy = remedyFor(kind, events.fault, [], read.body);
    return { ...refused, reason: events.fault, remedy };
  }
  const sources = eventSources(mapping, webhook, read.body, search);
  const trials = events.value.map((event, index) => tryEvent(event, sources[index]?.payload, tried));
  const [first] = trials;
  if (first !== undefined && events.value[0]?.text === undefined) return first;
  const failed = trials.find((trial) => !trial.mapped);
  if (failed === undefined) return { kind, mapped: true, fields: [], events: trials };
  return { ...refused, reason: failed.reason, remedy: failed.remedy, events: trials };
}

function tryEvent(event: MappedEvent, payload: unknown, tried: Tried): EventTrial {
  const { mapping, webhook } = tried;
  const { kind } = webhook;
  if ("ignored" in event) {
    const { ignored } = event;
    return { kind, mapped: true, fields: [{ field: "type", source: mapping.type, gave: ignored }], ignored };
  }
  const fields = tryFields(payload, tried);
  if ("failure" in event) {
    const { reason } = event.failure;
    const remedy = remedyFor(kind, reason, fields, payload);
    return { kind, mapped: false, fields, reason, remedy };
  }
  const { id, facts } = event;
  const shown = facts.time === undefined ? fields.map(withoutTime) : fields;
  return { kind, mapped: true, fields: shown, id, event: facts, isUnordered: isUnordered(facts) };
}

function tryFields(payload: unknown, { mapping, webhook, search }: Tried): readonly FieldTrial[] {
  const delivery = deliveryOf(payload, webhook.headers);
  return allFields.flatMap((field): FieldTrial[] => {
    const source = mapping[field];
    if (source === undefined) return [];
    const gave = attempt(() => foundAt(mapping, field, delivery, search));
    if ("fault" in gave) return [{ field, source, gave: undefined, fault: gave.fault }];
    const fact = attempt(() =>
      field === "type" ? typeOf(mapping, gave.value) : factAt(mapping, field, gave.value),
    );
    const readAs = field === "time" ? readTime(gave.value)?.form : undefined;
    const found = { field, source, gave: gave.value, ...present({ readAs }) };
    return [{ ...found, ...("fault" in fact && { fault: fact.fault }) }];
  });
}

function withoutTime(trial: FieldTrial): FieldTrial {
  if (trial.field !== "time" || trial.gave === undefined || trial.gave === null) return trial;
  return {
    ...trial,
    fault: "ignored: before the year 2000, or more than 5 minutes after receipt",
  };
}

function attempt<T>(action: () => T): { readonly value: T } | { readonly fault: string } {
  try {
    return { value: action() };
  } catch (error) {
    if (error instanceof FailureError || error instanceof RangeError)
      return { fault: failureOf(error).reason };
    throw error;
  }
}

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

/** Advice for a sample that was not mapped. Reasons begin with the field's name. */
function remedyFor(kind: WebhookKind, reason: string, fields: readonly FieldTrial[], body: unknown): string {
  if (reason.endsWith("see mapping.events")) {
    const list = listIn(body);
    const place = list === undefined ? "" : `, perhaps ${JSON.stringify(list)}`;
    return `Set mapping.${kind}.events to where the list of events is${place}, and the fields to where they are in one element.`;
  }
  if (reason.startsWith("events:"))
    return `Set mapping.${kind}.events to an expression that finds a list, or leave it out.`;
  const named = allFields.find((each) => each === reason.split(":")[0]);
  const field = named ?? fields.find(({ fault }) => fault === reason)?.field;
  if (field === undefined) return `Correct the expressions of mapping.${kind}.`;
  const setting = `mapping.${kind}.${field}`;
  const gave = fields.find((one) => one.field === field)?.gave;
  if (field === "type" && typeof gave === "string") {
    const types = webhookEventTypes.filter((type) => `${subjectKindOf(type)}s` === kind);
    return `Add ${JSON.stringify(gave)} to mapping.${kind}.types, as one of ${types.join(", ")}, or as ${ignoredType} if nobody wants such events.`;
  }
  if (reason.includes("not a UUID"))
    return `Set mapping.${kind}.ids to "any", or ${setting} to where the UUID is.`;
  return `Set ${setting} to the path of this field in the body, or to {"header": "…"}.`;
}

/** A name that needs no quotes in an expression. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The path of the first list with several elements. */
function listIn(body: unknown): string | undefined {
  if (Array.isArray(body)) return "@";
  if (!isFields(body)) return undefined;
  for (const [name, member] of Object.entries(body)) {
    if (!plainName.test(name)) continue;
    if (Array.isArray(member) && member.length > 1) return name;
    const inner = isFields(member) ? listIn(member) : undefined;
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}
