import { permanent } from "../core/failures.ts";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  parseJson,
  present,
} from "../core/parse.ts";
import { canonicalId } from "../event/canonical-id.ts";
import { subjectKindOf } from "../event/events.ts";
import { jsonText } from "../event/json-text.ts";
import { nameOf, ownerOf, parseSubject, type Subject, subjectOf } from "../event/subjects.ts";
import { checkSchemaVersion } from "../message/schema-version.ts";
import type { Change } from "../state/change.ts";
import { isRestorable, type State } from "../state/state.ts";

/** The version of erase tasks that this release writes and reads. */
export const eraseTaskVersion = 1;

/** Why something is erased; `arrived late`: a copy came after its subject had been erased. */
export const eraseCauses = ["operator", "deleted", "arrived late", "restored"] as const;
export type EraseCause = (typeof eraseCauses)[number];

/** What an erasure does, in this order; each step can be done again. */
export const eraseSteps = [
  "subjects",
  "records",
  "dead letters",
  "bodies",
  "undelivered changes",
  "messages",
] as const;
export type EraseStep = (typeof eraseSteps)[number];

/** Objects that an erasure must read to know whom they name. */
const refusedKinds = ["archived dead letters", "large bodies", "undelivered changes"] as const;
export type RefusedKind = (typeof refusedKinds)[number];

/** Which step reads which objects. */
export const objectsReadBy: Readonly<Partial<Record<EraseStep, RefusedKind>>> = {
  "dead letters": "archived dead letters",
  bodies: "large bodies",
  "undelivered changes": "undelivered changes",
};

/** What is to be erased, and what of it is done. */
export type EraseTask = {
  readonly schemaVersion: typeof eraseTaskVersion;
  readonly subject: Subject;
  /** Named together with the subject: accounts that may be its own, or users whose records may name it. */
  readonly namedWith: readonly Subject[];
  /** Accounts that an event or the state of the account itself says to be the subject's. */
  readonly claimed: readonly Subject[];
  readonly cause: EraseCause;
  /** Under which its report is kept; absent: nobody follows it. */
  readonly id?: string;
  /** Of the change that led to it; absent for an operator's, whose `id` stands for it. */
  readonly correlationId?: string;
  /** The second pass removes what functions in flight wrote during the first. */
  readonly pass: 1 | 2;
  readonly next: EraseStep;
  /** All that is erased: the subject and what was found to be its own. Empty before these were looked for. */
  readonly erased: readonly Subject[];
  /**
   * Whether the subject is known: by a record, a tombstone, or what was removed. Of nobody else it is said, announced or
   * logged that they are erased.
   */
  readonly isFound: boolean;
  /** Nothing is erased: it is counted what would be. */
  readonly isDryRun: boolean;
  /** Whether it is done although a legal hold is on what is to be erased. */
  readonly isDespiteHold?: true;
  /** Whether dead letters, large bodies and undelivered changes are looked through, too. */
  readonly isThorough: boolean;
  /** What was removed, by kind. */
  readonly removed: Removed;
  /** Queues with too many dead letters or other readers: they could not be searched. */
  readonly incomplete: readonly string[];
  /** Kinds of objects of which S3 refused some in this pass. The erasure stays open until S3 gives them. */
  readonly refused: readonly RefusedKind[];
  /** All else is done: the second pass repeats the steps that read objects, and fails while S3 refuses any. */
  readonly isWaiting?: true;
  /** How often this pass has looked at the dead letters. */
  readonly looks: number;
  /** The last of the large bodies that this pass has looked at; absent: none yet. */
  readonly lastBody?: string;
};

/** Counts by kind: of items (`events`, …), objects (`bodies`, …) and dead letters (`dead letters`, …). */
export type Removed = Readonly<Record<string, number>>;

export function eraseTask(
  subject: Subject,
  cause: EraseCause,
  namedWith: readonly Subject[] = [],
  id?: string,
): EraseTask {
  return {
    schemaVersion: eraseTaskVersion,
    subject: { kind: subject.kind, id: canonicalId(subject.id) },
    namedWith,
    claimed: [],
    cause,
    ...(id === undefined ? {} : { id }),
    pass: 1,
    next: "subjects",
    erased: [],
    // What an operator writes may be a typing error; all others name somebody who is, or was, in the table.
    isFound: cause !== "operator",
    isDryRun: false,
    isThorough: false,
    removed: {},
    incomplete: [],
    refused: [],
    looks: 0,
  };
}

/** Under which an erasure is found in logs, and its messages at subscribers. */
export function correlationOfErasure({ correlationId, id }: EraseTask): string | undefined {
  return correlationId ?? id;
}

export function addRemoved(before: Removed, more: Removed): Removed {
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(more)])];
  return Object.fromEntries(kinds.map((kind) => [kind, (before[kind] ?? 0) + (more[kind] ?? 0)]));
}

/** Everyone whom a change speaks of, each once: whose partition it is in, its subject, and the subject's user. */
export function subjectsIn(change: Change): readonly Subject[] {
  const named = new Map(allIn(change).map((subject) => [nameOf(subject), subject]));
  return [...named.values()];
}

function allIn(change: Change): readonly Subject[] {
  switch (change.type) {
    case "event": {
      const { accountId, companyAccountId } = change.event;
      return [
        ownerOf(change.event),
        subjectOf(change.event),
        ...(accountId === undefined ? [] : [{ kind: "account", id: accountId } as const]),
        ...(companyAccountId === undefined
          ? []
          : [{ kind: "company-account", id: companyAccountId } as const]),
      ];
    }
    case "state":
    case "document":
    case "readiness":
      return [change.after.subject, ...usersOf(change.after.userId)];
  }
}

function usersOf(userId: string | undefined): readonly Subject[] {
  return userId === undefined ? [] : [{ kind: "user", id: userId }];
}

/**
 * The task for a change of which somebody is erased. With its user go the accounts that the change says to be the user's.
 * @param erased names of those who are
 * @returns undefined where nobody is
 */
export function eraseTaskForLateData(change: Change, erased: ReadonlySet<string>): EraseTask | undefined {
  const subjects = subjectsIn(change);
  const gone = subjects.filter((subject) => erased.has(nameOf(subject)));
  const subject = gone.find(({ kind }) => kind === "user") ?? gone[0];
  if (subject === undefined) return undefined;
  const others = subjects.filter((other) => other !== subject);
  return {
    ...eraseTask(subject, "arrived late", others),
    claimed: saysOwner(change) ? others.filter(({ kind }) => kind !== "user") : [],
    erased: gone,
  };
}

/** An event that announces data says nothing of whose an account is, nor does what is known of data. */
function saysOwner(change: Change): boolean {
  if (change.type === "event") return subjectKindOf(change.event.type) !== "endpoint";
  return change.type === "state";
}

/**
 * The task for a user whose deletion is certain with this change: reported by the event itself, or by the provider. A
 * deletion that only reconciliation reported can be taken back, so it erases nobody.
 */
export function erasureOnDeletion(change: Change): EraseTask | undefined {
  if (change.type !== "state" || change.after.subject.kind !== "user") return undefined;
  return isNewlyDeleted(change) && !isRestorable(change.after)
    ? eraseTask(change.after.subject, "deleted")
    : undefined;
}

function isNewlyDeleted({
  before,
  after,
}: {
  readonly before: State | undefined;
  readonly after: State;
}): boolean {
  return after.deleted && before?.deleted !== true;
}

export function writeEraseTask(task: EraseTask): string {
  return jsonText(task);
}

/** @throws permanent failure naming the field */
export function readEraseTask(text: string): EraseTask {
  const fields = fieldsOf(parseJson(text, "the erase task"), "the erase task");
  checkSchemaVersion(fields.schemaVersion, eraseTaskVersion);
  const cause = eraseCauses.find((known) => known === fields.cause);
  if (cause === undefined) throw permanent(`cause: expected one of ${eraseCauses.join(", ")}`);
  const next = eraseSteps.find((known) => known === fields.next);
  if (next === undefined) throw permanent(`next: expected one of ${eraseSteps.join(", ")}`);
  const texts = {
    id: optionalText(fields, "id"),
    correlationId: optionalText(fields, "correlationId"),
    lastBody: optionalText(fields, "lastBody"),
  };
  return {
    schemaVersion: eraseTaskVersion,
    subject: parseSubject(fields.subject),
    namedWith: subjectsOf(fields, "namedWith"),
    claimed: subjectsOf(fields, "claimed"),
    cause,
    ...present(texts),
    pass: fields.pass === 2 ? 2 : 1,
    next,
    erased: subjectsOf(fields, "erased"),
    isFound: fields.isFound === true,
    isDryRun: fields.isDryRun === true,
    ...(fields.isDespiteHold === true && { isDespiteHold: true }),
    isThorough: fields.isThorough === true,
    removed: parseRemoved(fields.removed),
    incomplete: parseIncomplete(fields.incomplete),
    refused: parseRefused(fields.refused),
    ...(fields.isWaiting === true && { isWaiting: true }),
    looks: numberOf(fields, "looks"),
  };
}

function subjectsOf(fields: Fields, name: string): readonly Subject[] {
  const { [name]: list } = fields;
  if (!Array.isArray(list)) throw permanent(`${name}: expected a list`);
  return list.map(parseSubject);
}

export function parseIncomplete(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function parseRefused(value: unknown): readonly RefusedKind[] {
  const named = parseIncomplete(value);
  return refusedKinds.filter((kind) => named.includes(kind));
}

/** What S3 refuses, as a step that reads one kind of objects found it. */
export function withRefusal(
  refused: readonly RefusedKind[],
  kind: RefusedKind,
  isRefused: boolean,
): readonly RefusedKind[] {
  const others = refused.filter((each) => each !== kind);
  return isRefused ? [...others, kind] : others;
}

/** @throws permanent failure naming the count that is none */
export function parseRemoved(value: unknown): Removed {
  const fields = isFields(value) ? value : {};
  return Object.fromEntries(Object.keys(fields).map((kind) => [kind, numberOf(fields, kind)]));
}
