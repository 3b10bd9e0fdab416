import type { EventType, WebhookKind } from "../../../domain/event/events.ts";
import type { MappedField } from "../../../domain/event/mapping.ts";
import type { MappingSource } from "../../../domain/event/mapping-source.ts";
import { type Candidate, type Column, type Confidence, candidatesFor, columnsOf } from "./candidates.ts";
import { cover, sourceOf, textOfSource } from "./cover.ts";
import { meaningOf } from "./event-names.ts";
import { doubtOfTime } from "./event-time.ts";
import { isUuid } from "./forms.ts";
import { type LearnedField, ownIds } from "./names.ts";
import type { ReadSample } from "./sample.ts";

/** Where a field seems to be, how sure that is, and why. */
export type Finding = {
  readonly field: LearnedField;
  readonly source: MappingSource;
  readonly confidence: Confidence;
  readonly because: string;
};

/** A kind's mapping as its samples suggest it, in the form of the settings. */
export type Lesson = {
  readonly kind: WebhookKind;
  readonly mapping: Readonly<Partial<Record<LearnedField, MappingSource>>> & {
    readonly types?: Readonly<Record<string, EventType>>;
    readonly ids?: "any";
  };
  readonly findings: readonly Finding[];
  /** What was not found, or found and not taken, and what to do. */
  readonly notes: readonly string[];
};

/** What else an event of a kind can tell, beside its type and whom it speaks of. */
const furtherFields: Readonly<Record<WebhookKind, readonly MappedField[]>> = {
  users: ["eventId", "time"],
  accounts: ["userId", "datasourceId", "eventId", "time", "connected"],
  endpoints: [
    "endpoint",
    "userId",
    "datasourceId",
    "eventId",
    "dateStart",
    "dateEnd",
    "time",
    "dataAvailable",
  ],
  "company-accounts": ["userId", "datasourceId", "eventId", "time", "connected"],
};

const idFields: readonly LearnedField[] = ["userId", "accountId", "companyAccountId"];

/** Proposes a kind's mapping. The same samples in the same order give the same. */
export function learn(kind: WebhookKind, samples: readonly ReadSample[]): Lesson {
  const columns = columnsOf(samples);
  const found = new Map<LearnedField, readonly Column[]>();
  const findings: Finding[] = [];
  const notes: string[] = [];
  const find = (field: LearnedField, isRequired: boolean): void => {
    const taken = [...found.values()].flat();
    const free = candidatesFor(kind, field, columns).filter(({ column }) => !taken.includes(column));
    const allowed = field === "time" ? free.filter((candidate) => isCertain(candidate)) : free;
    const chosen = cover(allowed, samples.length, isRequired || field === "time");
    const [best] = chosen;
    if (best === undefined) return;
    found.set(
      field,
      chosen.map(({ column }) => column),
    );
    findings.push(findingOf(field, best, chosen, free));
  };
  const subjectOf = (): readonly Column[] => found.get(ownIds[kind]) ?? [];
  const isCertain = (candidate: Candidate): boolean => {
    const doubt = doubtOfTime(candidate, subjectOf());
    if (doubt !== undefined) notes.push(doubt);
    return doubt === undefined;
  };
  const required = ["type", ownIds[kind], ...(kind === "endpoints" ? (["endpoint"] as const) : [])] as const;
  for (const field of required) find(field, true);
  for (const field of furtherFields[kind]) if (!found.has(field)) find(field, false);
  for (const field of required) {
    if (!found.has(field))
      notes.push(`${field} was not found, and no event does without: set mapping.${kind}.${field}.`);
  }
  const types = typesOf(kind, found.get("type") ?? [], notes);
  const ids = idFields
    .flatMap((field) => found.get(field) ?? [])
    .flatMap(({ values }) => [...values.values()]);
  const mapping = {
    ...Object.fromEntries(findings.map(({ field, source }) => [field, source])),
    ...(Object.keys(types).length > 0 && { types }),
    ...(!ids.every(isUuid) && { ids: "any" as const }),
  };
  return { kind, mapping, findings, notes };
}

function findingOf(
  field: LearnedField,
  best: Candidate,
  chosen: readonly Candidate[],
  free: readonly Candidate[],
): Finding {
  const rival = free.find((candidate) => !chosen.includes(candidate) && candidate.points === best.points);
  const doubt = rival === undefined ? [] : [`as likely: ${textOfSource(rival.column.source)}`];
  return {
    field,
    source: sourceOf(field, best, chosen),
    confidence: rival === undefined ? best.confidence : "low",
    because: [...best.because, ...doubt].join(", "),
  };
}

function typesOf(
  kind: WebhookKind,
  columns: readonly Column[],
  notes: string[],
): Readonly<Record<string, EventType>> {
  const names = [...new Set(columns.flatMap(({ values }) => [...values.values()].map(String)))].sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const type = meaningOf(kind, name);
      if (type !== undefined) return [[name, type] as const];
      notes.push(`The event name "${name}" names no change that is known: add it to mapping.${kind}.types.`);
      return [];
    }),
  );
}
