import { FailureError, failureOf } from "../../../domain/core/failures.ts";
import { present } from "../../../domain/core/parse.ts";
import { readTime } from "../../../domain/core/timestamps.ts";
import { identify } from "../../../domain/event/envelope.ts";
import { type EventAttributes, isUnordered, type WebhookKind } from "../../../domain/event/events.ts";
import {
  deliveryOf,
  factAt,
  foundAt,
  headersOf,
  type KindMapping,
  type Search,
  typeOf,
} from "../../../domain/event/mapping.ts";
import { pickHeaders } from "../../../domain/event/mapping-source.ts";
import {
  eventSources,
  type MappedEvent,
  mapWebhook,
  type Webhook,
} from "../../../domain/event/webhook-events.ts";
import { allFields } from "./field-names.ts";
import { type FieldTrial, remedyFor } from "./remedy.ts";
import { readSample, type Sample } from "./sample.ts";

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
  readonly sample: Sample;
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
  const tried = { mapping, webhook, sample, search };
  const events = attempt(() => mapWebhook(mapping, webhook, read.body, search));
  if ("fault" in events) {
    const remedy = remedyFor({ kind, mapping }, events.fault, [], { sample, body: read.body });
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
  const { mapping, webhook, sample } = tried;
  const { kind } = webhook;
  if ("ignored" in event) {
    const { ignored } = event;
    return { kind, mapped: true, fields: [{ field: "type", source: mapping.type, gave: ignored }], ignored };
  }
  const fields = tryFields(payload, tried);
  if ("failure" in event) {
    const { reason } = event.failure;
    const remedy = remedyFor({ kind, mapping }, reason, fields, { sample, body: payload });
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
