import { permanent } from "../core/failures.ts";
import {
  checkSchemaVersion,
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalText,
  parseJson,
  present,
} from "../core/parse.ts";
import { subjectKindOf } from "../event/events.ts";
import { jsonText } from "../event/json.ts";
import {
  canonicalId,
  nameOf,
  ownerOf,
  parseSubject,
  type Subject,
  subjectOf,
  withUser,
} from "../event/subjects.ts";
import type { Change } from "../state/change.ts";
import { isRestorable, type State } from "../state/state.ts";

/** The erase task version that this release writes and reads. */
export const eraseTaskVersion = 1;

/**
 * Seconds for which a function may rely on a read that found no tombstone. An erasure waits as long after it placed
 * new ones.
 */
export const unerasedSeconds = 5;

/** Why a subject is erased. `arrived late`: a copy arrived after the subject's erasure. */
export const eraseCauses = ["operator", "deleted", "arrived late", "restored"] as const;

/** The steps of an erasure, in order. Each can be repeated. */
export const eraseSteps = [
  "subjects",
  "records",
  "dead letters",
  "bodies",
  "undelivered changes",
  "messages",
] as const;

/** Objects that an erasure must read to find out whom they mention. */
const refusedKinds = ["archived dead letters", "large bodies", "undelivered changes"] as const;
export type RefusedKind = (typeof refusedKinds)[number];

/** What to erase, and the progress. */
export type EraseTask = ReturnType<typeof readEraseTask>;

/** Counts by kind: items (`events`, …), objects (`bodies`, …) and dead letters (`dead letters`, …). */
export type Removed = Readonly<Record<string, number>>;

export function eraseTask(
  subject: Subject,
  cause: (typeof eraseCauses)[number],
  namedWith: readonly Subject[] = [],
  id?: string,
): EraseTask {
  return {
    schemaVersion: eraseTaskVersion,
    subject: { kind: subject.kind, id: canonicalId(subject.id) },
    namedWith,
    claimed: [],
    cause,
    ...present({ id }),
    pass: 1,
    next: "subjects",
    erased: [],
    // An operator may mistype an id; all other causes name a subject that is or was in the table.
    isFound: cause !== "operator",
    isDryRun: false,
    isThorough: false,
    removed: {},
    incomplete: [],
    refused: [],
    searches: 0,
  };
}

/** All subjects of a change, each once: the partition's owner, the subject, and the subject's user. */
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
      return withUser(change.after);
    case "userReadiness": {
      const { subject, accounts } = change.after;
      return [subject, ...accounts.map(({ accountId: id }) => ({ kind: "account", id }) as const)];
    }
  }
}

/**
 * The erase task for a change that concerns an erased subject. Erases a user together with the accounts that
 * the change assigns to the user.
 * @param erased names of erased subjects
 * @returns undefined if no subject of the change is erased
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

/** Endpoint events and documents do not tell who owns an account. */
function saysOwner(change: Change): boolean {
  if (change.type === "event") return subjectKindOf(change.event.type) !== "endpoint";
  return change.type === "state";
}

/**
 * The erase task for a user whose deletion this change makes certain, by the event itself or the provider. A
 * deletion that only reconciliation reported can be undone, so it erases nobody.
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
export function readEraseTask(text: string) {
  const fields = fieldsOf(parseJson(text, "the erase task"), "the erase task");
  checkSchemaVersion(fields.schemaVersion, eraseTaskVersion);
  const cause = eraseCauses.find((each) => each === fields.cause);
  if (cause === undefined) throw permanent(`cause: expected one of ${eraseCauses.join(", ")}`);
  const next = eraseSteps.find((each) => each === fields.next);
  if (next === undefined) throw permanent(`next: expected one of ${eraseSteps.join(", ")}`);
  return present({
    schemaVersion: eraseTaskVersion,
    subject: parseSubject(fields.subject),
    /**
     * Subjects mentioned together with this one: accounts that may belong to it, or users whose records may
     * mention it.
     */
    namedWith: subjectsOf(fields, "namedWith"),
    /** Accounts that belong to the subject according to an event or the account's own state. */
    claimed: subjectsOf(fields, "claimed"),
    cause,
    /** Id of the erasure's report; absent if nobody tracks it. */
    id: optionalText(fields, "id"),
    /** Correlation id of the change that caused it; absent for an operator's erasure, which uses `id`. */
    correlationId: optionalText(fields, "correlationId"),
    /** The last large body that this pass has checked; absent before the first. */
    lastBody: optionalText(fields, "lastBody"),
    /** The second pass removes data that running functions wrote during the first. */
    pass: fields.pass === 2 ? 2 : 1,
    next,
    /** The subject and everything that belongs to it. Empty before these are found. */
    erased: subjectsOf(fields, "erased"),
    /**
     * Whether the subject is known, by a record, a tombstone or removed data. Only then is the erasure
     * announced and logged.
     */
    isFound: fields.isFound === true,
    /** Only count what would be erased. */
    isDryRun: fields.isDryRun === true,
    /** Whether to erase despite a legal hold. */
    isDespiteHold: fields.isDespiteHold === true ? true : undefined,
    /** Whether to search dead letters, large bodies and undelivered changes, too. */
    isThorough: fields.isThorough === true,
    removed: parseRemoved(fields.removed),
    /** Queues that could not be searched, because of too many dead letters or other readers. */
    incomplete: parseIncomplete(fields.incomplete),
    /** Kinds of objects that S3 refused to return in this pass. The erasure stays open until it does. */
    refused: parseRefused(fields.refused),
    /**
     * Everything else is done. The second pass repeats the steps that read objects, and fails while S3 refuses
     * any.
     */
    isWaiting: fields.isWaiting === true ? true : undefined,
    /** Number of times that this pass has searched the dead letters. */
    searches: numberOf(fields, "searches"),
  });
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

/** @throws permanent failure naming the invalid count */
export function parseRemoved(value: unknown): Removed {
  const fields = isFields(value) ? value : {};
  return Object.fromEntries(Object.keys(fields).map((kind) => [kind, numberOf(fields, kind)]));
}
