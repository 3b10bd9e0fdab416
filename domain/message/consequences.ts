import { permanent } from "../core/failures.ts";
import { present } from "../core/parse.ts";
import { correlationOf, haveSameMessage, type IncomeEvent, subjectKindOf } from "../event/events.ts";
import { receiptsToProcess } from "../event/receipts.ts";
import { type Subject, subjectOf } from "../event/subjects.ts";
import { type DataName, type DocumentStorage, rangeOf, type SupersededObject } from "../fetch/document.ts";
import { documentTask, type FetchTask, receiptCause, stateTask } from "../fetch/task.ts";
import { concernsUser, type ReadinessSettings, statusOf } from "../readiness/readiness.ts";
import type { AccountReadiness, Deadline, UserReadiness } from "../readiness/stored-readiness.ts";
import type { EraseTask } from "../recovery/erasure.ts";
import type { Change } from "../state/change.ts";
import type { State } from "../state/state.ts";
import {
  type MessageOrigin,
  messageOfDocument,
  messageOfEndpointEvent,
  messageOfReadiness,
  messageOfStale,
  messageOfState,
  messageOfUserReadiness,
} from "./message.ts";
import type { Message } from "./message-schemas.ts";

export type LoadState = (subject: Subject) => Promise<State | undefined>;

/**
 * The stored user whose account or data a change is about; undefined if there is none or the change is the
 * user's own state. The account's state decides the owner, because the user that the provider sends with data may
 * be missing or wrong.
 */
export async function userOf(change: Change, loadState: LoadState): Promise<State | undefined> {
  switch (change.type) {
    case "state":
    case "readiness": {
      const { subject, userId } = change.after;
      return subject.kind === "user" || userId === undefined ? undefined : loadState(userNamed(userId));
    }
    case "event": {
      const { event } = change;
      return subjectKindOf(event.type) === "user"
        ? undefined
        : ownerOf(subjectOf(event), event.userId, loadState);
    }
    case "document":
      return ownerOf(change.after.subject, change.after.userId, loadState);
    case "userReadiness":
      return loadState(change.after.subject);
  }
}

/** Loads both concurrently, so that only a different owner costs a second round trip. */
async function ownerOf(
  account: Subject,
  userId: string | undefined,
  loadState: LoadState,
): Promise<State | undefined> {
  const [state, named] = await Promise.all([
    loadState(account),
    userId === undefined ? undefined : loadState(userNamed(userId)),
  ]);
  const ownerId = state?.userId ?? userId;
  return ownerId === undefined || ownerId === userId ? named : loadState(userNamed(ownerId));
}

function userNamed(id: string): Subject {
  return { kind: "user", id };
}

/**
 * What follows from a change. `applyEvent` writes to the table, whose stream then reports the next change.
 * The others have effects outside the table. Each is safe to repeat.
 */
export type Consequence =
  | {
      readonly type: "applyEvent";
      readonly subject: Subject;
      readonly event: IncomeEvent;
      readonly receipts: number;
      /** When the webhook of this receipt was sent to its queue, in milliseconds since 1970. */
      readonly since: number;
    }
  | {
      readonly type: "followReadiness";
      readonly change: Extract<Change, { type: "state" | "document" }>;
    }
  | { readonly type: "followAccounts"; readonly userId: string; readonly correlationId: string | undefined }
  | { readonly type: "link"; readonly userId: string; readonly accountId: string }
  | { readonly type: "call"; readonly task: FetchTask }
  | { readonly type: "endWait"; readonly deadline: Deadline }
  /** Sends a canary to its own queue. */
  | { readonly type: "confirmCanary"; readonly id: string }
  | { readonly type: "erase"; readonly task: EraseTask }
  | { readonly type: "removeObject"; readonly superseded: SupersededObject }
  /** `storage`: where the data that the message reports is stored. */
  | { readonly type: "publish"; readonly message: Message; readonly storage?: DocumentStorage | undefined };

export type DeriveSettings = MessageOrigin & {
  /** Subject kinds and endpoints, such as `account/income`, that are read by their events' date ranges. */
  readonly readByRange: readonly string[];
  readonly readiness?: ReadinessSettings | undefined;
};

/**
 * Derives the consequences of a change. It depends on the change alone, so that a replayed stream, or
 * `repair` from the table, produces the same tasks and messages with the same ids.
 */
export function consequencesOf(change: Change, settings: DeriveSettings): readonly Consequence[] {
  switch (change.type) {
    case "event":
      return ofEvent(change, settings);
    case "state":
      return [...ofState(change.before, change.after, settings.source), ...readinessAfter(change, settings)];
    case "readiness":
      return ofReadiness(change.before, change.after, settings);
    case "userReadiness":
      return ofUserReadiness(change.before, change.after, settings);
    case "document": {
      // The data is already stored. Notify subscribers if the call changed it.
      const { before, after, storage } = change;
      const isTold = after.announced === undefined || before?.announced === after.announced;
      const message = isTold ? undefined : messageOfDocument(after, settings);
      return [
        ...(message === undefined ? [] : [{ type: "publish", message, ...present({ storage }) } as const]),
        ...readinessAfter(change, settings),
      ];
    }
  }
}

function ofEvent(
  change: Extract<Change, { type: "event" }>,
  settings: DeriveSettings,
): readonly Consequence[] {
  const { event, receipts, countBefore } = change;
  if (subjectKindOf(event.type) === "endpoint") return ofEndpointEvent(change, settings);
  const subject = subjectOf(event);
  return receiptsToProcess(countBefore, receipts.count).map((receipt) => {
    const since = receipt === 1 ? receipts.firstAt : receipts.since;
    return { type: "applyEvent", subject, event, receipts: receipt, since };
  });
}

/** Announces an endpoint event once. Repeats of the same bytes only read the data again. */
function ofEndpointEvent(
  { event, receipts, countBefore }: Extract<Change, { type: "event" }>,
  { readByRange, source }: DeriveSettings,
): readonly Consequence[] {
  const { id: correlationId, userId, endpoint, dataAvailable } = event;
  if (endpoint === undefined) throw permanent("event.endpoint: missing");
  const subject = subjectOf(event);
  const range = readByRange.includes(`${subject.kind}/${endpoint}`) ? rangeOf(event) : undefined;
  const cause = { cause: receiptCause(event.id, receipts.count), correlationId, userId };
  const task = documentTask(subject, present<DataName>({ endpoint, range }), receipts.since, cause);
  const isFirst = countBefore === 0;
  return publish(
    // Without available data there is nothing to read; a later event will announce it.
    dataAvailable === false ? [] : [{ type: "call", task }],
    isFirst ? messageOfEndpointEvent(event, receipts, source) : undefined,
  );
}

function ofState(before: State | undefined, after: State, source: string): readonly Consequence[] {
  // The stream reports every write, and a write that keeps the version has no consequences. Only `repair` passes a
  // version with another `latest`, which publishes an event again and nothing else.
  if (before?.version === after.version)
    return haveSameMessage(before.latest, after.latest) ? [] : publish([], messageOfState(after, source));
  const { subject, version, userId, latest } = after;
  const ids = { userId, correlationId: correlationOf(latest) };
  const list: Consequence[] = [];
  if (subject.kind === "account" && userId !== undefined && before?.userId === undefined) {
    list.push({ type: "link", userId, accountId: subject.id });
  }
  if (subject.kind !== "user" && isConnected(after) && !(before && isSameConnection(before, after))) {
    list.push({ type: "call", task: stateTask("startFetch", subject, version, ids) });
  }
  if (after.unconfirmed) list.push({ type: "call", task: stateTask("fetchState", subject, version, ids) });
  return publish(list, messageOfState(after, source));
}

/** Whether an account's state or one of its documents may change its readiness; see domain/readiness. */
function readinessAfter(
  change: Extract<Change, { type: "state" | "document" }>,
  { readiness }: DeriveSettings,
): readonly Consequence[] {
  const { after } = change;
  if (readiness === undefined || after.subject.kind !== "account") return [];
  const matters =
    change.type === "state"
      ? changesConnection(change.before, change.after)
      : change.after.range === undefined && readiness.endpoints.includes(change.after.endpoint);
  return matters ? [{ type: "followReadiness", change }] : [];
}

function changesConnection(before: State | undefined, after: State): boolean {
  return (
    before?.connection?.since !== after.connection?.since ||
    before?.connected !== after.connected ||
    before?.deleted !== after.deleted ||
    before?.unconfirmed !== after.unconfirmed ||
    before?.userId !== after.userId
  );
}

function ofReadiness(
  before: AccountReadiness | undefined,
  after: AccountReadiness,
  settings: DeriveSettings,
): readonly Consequence[] {
  const { subject, since, announced, correlationId, userId } = after;
  const isTold = announced === undefined || before?.announced?.version === announced.version;
  const isBegun = statusOf(after) === "waiting" && before?.since !== since;
  const deadline = { subject, since, ...present({ correlationId }) };
  const list: Consequence[] = isBegun ? [{ type: "endWait", deadline }] : [];
  if (settings.readiness !== undefined && userId !== undefined && concernsUser(before, after))
    list.push({ type: "followAccounts", userId, correlationId });
  const isStale = after.stale !== undefined && before?.stale?.version !== after.stale.version;
  return publish(
    list,
    isTold ? undefined : messageOfReadiness(after, settings),
    isStale ? messageOfStale(after, settings.source) : undefined,
  );
}

/** An account may have changed between the read and the write, so each announcement is checked again. */
function ofUserReadiness(
  before: UserReadiness | undefined,
  after: UserReadiness,
  settings: DeriveSettings,
): readonly Consequence[] {
  if (before?.version === after.version) return [];
  const { subject, correlationId } = after;
  return publish(
    settings.readiness === undefined ? [] : [{ type: "followAccounts", userId: subject.id, correlationId }],
    after.accounts.length === 0 ? undefined : messageOfUserReadiness(after, settings.source),
  );
}

/** Adds messages to a list. */
function publish(
  list: readonly Consequence[],
  ...messages: readonly (Message | undefined)[]
): readonly Consequence[] {
  const published = messages.filter((message) => message !== undefined);
  return [...list, ...published.map((message) => ({ type: "publish", message }) as const)];
}

/** With `readiness`, a connection that was interrupted is a new one: its documents must be read again. */
function isSameConnection(before: State, after: State): boolean {
  return isConnected(before) && before.connection?.since === after.connection?.since;
}

function isConnected(state: State): boolean {
  return state.connected === true && !state.deleted;
}
