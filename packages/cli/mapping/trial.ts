import { FailureError, failureOf } from "../../../domain/core/failures.ts";
import { present } from "../../../domain/core/parse.ts";
import { readTime } from "../../../domain/core/timestamps.ts";
import {
  type EventAttributes,
  isUnordered,
  type WebhookKind,
  withBelievableTime,
} from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import {
  factAt,
  foundAt,
  headersOf,
  ignoredName,
  type KindMapping,
  mapPayload,
  type Search,
  typeOf,
} from "../../../domain/event/mapping.ts";
import { pickHeaders } from "../../../domain/event/mapping-source.ts";
import { allFields } from "./field-names.ts";
import { type FieldTrial, remedyFor } from "./remedy.ts";
import { readSample, type Sample } from "./sample.ts";

/** What a webhook of a kind becomes, or why nothing. */
export type Trial = { readonly kind: WebhookKind; readonly fields: readonly FieldTrial[] } & (
  | {
      readonly mapped: true;
      readonly id: string;
      readonly event: EventAttributes;
      readonly isUnordered: boolean;
    }
  | { readonly mapped: true; readonly ignored: string }
  | { readonly mapped: false; readonly reason: string; readonly remedy: string }
);

/** Maps a sample as if it were received now, as receiver and consumer of its kind do. It never throws, whatever the sample holds. */
export function tryMapping(kind: WebhookKind, mapping: KindMapping, sample: Sample, search: Search): Trial {
  const headers = pickHeaders(headersOf(mapping), sample.headers);
  const read = readSample({ ...sample, headers });
  if ("refused" in read) {
    const reason = `the body is ${read.refused}`;
    return {
      kind,
      mapped: false,
      fields: [],
      reason,
      remedy: "Give the body as the provider sends it: JSON in UTF-8.",
    };
  }
  const delivery = { body: read.body, headers };
  const name = attempt(() => ignoredName(mapping, delivery, search));
  if ("value" in name && name.value !== undefined)
    return {
      kind,
      mapped: true,
      fields: [{ field: "type", source: mapping.type, gave: name.value }],
      ignored: name.value,
    };
  const fields = allFields.flatMap((field): FieldTrial[] => {
    const source = mapping[field];
    if (source === undefined) return [];
    const gave = attempt(() => foundAt(mapping, field, delivery, search));
    if ("fault" in gave) return [{ field, source, gave: undefined, fault: gave.fault }];
    const fact = attempt(() =>
      field === "type" ? typeOf(mapping, gave.value) : factAt(mapping, field, gave.value),
    );
    const readAs = field === "time" ? readTime(gave.value)?.form : undefined;
    return [
      {
        field,
        source,
        gave: gave.value,
        ...present({ readAs }),
        ...("fault" in fact && { fault: fact.fault }),
      },
    ];
  });
  const event = attempt(() =>
    withBelievableTime(mapPayload(mapping, read.body, search, headers), new Date().toISOString()),
  );
  if ("fault" in event) {
    const remedy = remedyFor({ kind, mapping }, event.fault, fields, { sample, body: read.body });
    return { kind, mapped: false, fields, reason: event.fault, remedy };
  }
  const id = identify(kind, sample.bytes, headers);
  return {
    kind,
    mapped: true,
    fields: event.value.time === undefined ? fields.map(withoutTime) : fields,
    id,
    event: event.value,
    isUnordered: isUnordered(event.value),
  };
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
