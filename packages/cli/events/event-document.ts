import type { DocumentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { present } from "../../../domain/core/parse.ts";
import { documentOf } from "../../../domain/event/event-progress.ts";
import { type IncomeEvent, subjectKindOf } from "../../../domain/event/events.ts";
import { type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";

/** The document that an event announced. */
export type EventDocument = {
  readonly subject: Subject;
  readonly endpoint: string;
  /** `2026-01-01..2026-01-31`; undefined: without a range. */
  readonly dates?: string;
  readonly version: string;
  /** Whether this event led to that version; otherwise it is the newest, from another event. */
  readonly isOfEvent: boolean;
};

/**
 * Finds the document that an event led to, including a stored version that was superseded.
 * @param documents of the event's subject
 * @returns undefined if the event announced none, or if none exists
 */
export async function documentOfEvent(
  event: IncomeEvent,
  documents: readonly Document[],
  { all }: Pick<DocumentVersions, "all">,
): Promise<EventDocument | undefined> {
  const newest = subjectKindOf(event.type) === "endpoint" ? documentOf(event, documents) : undefined;
  if (newest === undefined) return undefined;
  const kept = await all(subjectOf(event), newest);
  const versions = [newest, ...kept.map(({ document }) => document)].filter(
    ({ digest }) => digest !== undefined,
  );
  const own = versions.find(({ correlationId }) => correlationId === event.id);
  const found = own ?? versions[0];
  if (found?.announced === undefined) return undefined;
  const { subject, endpoint, range, announced } = found;
  return {
    ...{ subject, endpoint, version: String(announced), isOfEvent: own !== undefined },
    ...present({ dates: range && `${range.start}..${range.end}` }),
  };
}
