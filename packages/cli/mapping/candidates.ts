import type { WebhookKind } from "../../../domain/event/events.ts";
import type { MappingSource } from "../../../domain/event/mapping-source.ts";
import { meaningOf } from "./event-names.ts";
import { fits, isEventIdByForm, isUuid } from "./forms.ts";
import { isNamedElsewhere, type LearnedField, namePoints, ownIds } from "./names.ts";
import { type Place, placesIn } from "./places.ts";
import type { ReadSample } from "./sample.ts";

/** One place, over all samples of a kind. */
export type Column = {
  readonly source: MappingSource;
  readonly words: readonly string[];
  /** What each sample has there, by the sample's number; those that have nothing are not in it. */
  readonly values: ReadonlyMap<number, Place["value"]>;
};

export type Confidence = "high" | "medium" | "low";

/** A place that may be what a field is looked for. */
export type Candidate = {
  readonly column: Column;
  readonly points: number;
  readonly confidence: Confidence;
  /** What speaks for it. */
  readonly because: readonly string[];
};

/** The columns of samples, in the order in which they are met. */
export function columnsOf(samples: readonly ReadSample[]): readonly Column[] {
  const columns = new Map<string, Column & { values: Map<number, Place["value"]> }>();
  for (const [index, sample] of samples.entries()) {
    for (const { source, words, value } of placesIn(sample)) {
      const key = JSON.stringify(source);
      const column = columns.get(key) ?? { source, words, values: new Map() };
      column.values.set(index, value);
      columns.set(key, column);
    }
  }
  return [...columns.values()];
}

/** Every place that a field may be at, the likeliest first; places that are alike in the order of their names. */
export function candidatesFor(
  kind: WebhookKind,
  field: LearnedField,
  columns: readonly Column[],
): readonly Candidate[] {
  return columns
    .flatMap((column) => {
      const candidate = rate(kind, field, column);
      return candidate === undefined ? [] : [candidate];
    })
    .sort((one, other) => other.points - one.points || compare(kind, field, one.column, other.column));
}

function rate(kind: WebhookKind, field: LearnedField, column: Column): Candidate | undefined {
  const values = [...column.values.values()];
  if (!values.every((value) => fits(field, value))) return undefined;
  const name = namePoints(kind, field, column.words);
  const evidence = evidenceOf(kind, field, values);
  if (evidence === undefined) return undefined;
  if (name === 0 && (isNamedElsewhere(field, column.words) || !isFoundByValues(kind, field, evidence.points)))
    return undefined;
  const points = 2 * name + evidence.points;
  const because = [
    ...(name === 0 ? [] : [name === 3 ? "by its name" : "its name fits"]),
    ...evidence.because,
  ];
  return { column, points, because, confidence: confidenceOf(name, points) };
}

function confidenceOf(name: number, points: number): Confidence {
  if (name === 3 && points >= 7) return "high";
  return name > 0 && points >= 4 ? "medium" : "low";
}

/** Where no name helps, only what every event must have is looked for by its values. */
function isFoundByValues(kind: WebhookKind, field: LearnedField, points: number): boolean {
  return field === "type" ? points >= 3 : field === ownIds[kind] && points >= 2;
}

type Evidence = { readonly points: number; readonly because: readonly string[] };

/** What the values say; undefined where they speak against the field. */
function evidenceOf(
  kind: WebhookKind,
  field: LearnedField,
  values: readonly Place["value"][],
): Evidence | undefined {
  const recurring = new Set(values).size < values.length;
  switch (field) {
    case "type": {
      const known = values.filter((value) => meaningOf(kind, String(value)) !== undefined).length;
      if (known === 0) return undefined;
      return { points: (3 * known) / values.length, because: [`${known} of ${values.length} name a change`] };
    }
    case "userId":
    case "accountId":
    case "companyAccountId":
      if (values.some(isEventIdByForm)) return undefined;
      return together(
        [values.every(isUuid), 2, "UUIDs"],
        [recurring, 1, "recurs"],
        [values.every(hasDigit), 1, "ids by form"],
      );
    case "eventId":
      if (recurring) return undefined;
      return together(
        [values.every(isEventIdByForm), 3, "an event's by their form"],
        [values.length > 1, 1, "never recurs"],
      );
    default:
      return { points: 1, because: ["of the right form"] };
  }
}

function together(
  ...facts: readonly (readonly [holds: boolean, points: number, because: string])[]
): Evidence {
  const held = facts.filter(([holds]) => holds);
  return {
    points: held.reduce((sum, [, points]) => sum + points, 0),
    because: held.map(([, , because]) => because),
  };
}

function hasDigit(value: Place["value"]): boolean {
  return /\d/.test(String(value));
}

/** What covers more samples first. Of bare ids the inner one is the subject's, the outer one the event's. */
function compare(kind: WebhookKind, field: LearnedField, one: Column, other: Column): number {
  const depth = one.words.length - other.words.length;
  const isBareId = field === ownIds[kind] && namePoints(kind, field, one.words) === 1;
  return (
    other.values.size - one.values.size ||
    (isBareId ? -depth : depth) ||
    (JSON.stringify(one.source) < JSON.stringify(other.source) ? -1 : 1)
  );
}
