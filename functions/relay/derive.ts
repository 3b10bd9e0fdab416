import type { partitions } from "../../adapters/dynamodb/event-table.ts";
import type { ReadinessRecords, VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { FindErased } from "../../adapters/erasure/find-erased.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import {
  readCanary,
  readChange,
  readExpired,
  type recordMarks,
  type StreamRecord,
} from "../../adapters/streams/change-stream.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { millisecondsSince } from "../../domain/event/events.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { SupersededObject } from "../../domain/fetch/document.ts";
import {
  type Consequence,
  consequencesOf,
  type DeriveSettings,
  type LoadState,
  userOf,
} from "../../domain/message/consequences.ts";
import { withAttributes } from "../../domain/message/message.ts";
import {
  afterDocument,
  afterState,
  announceUser,
  beginConnection,
  beginsConnection,
  type ReadinessSettings,
} from "../../domain/readiness/readiness.ts";
import {
  type EraseTask,
  eraseTaskForLateData,
  erasureOnDeletion,
  subjectsIn,
  writeEraseTask,
} from "../../domain/recovery/erasure.ts";
import { type Change, correlationOfChange, receivedAtOfChange } from "../../domain/state/change.ts";
import type { State } from "../../domain/state/state.ts";
import type { Log, LogFields } from "../runtime/log.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";

/** A record of the batch in progress: its consequences, and its failure, if any. */
export type Step = {
  /** Undefined if the record can't be read, is an expired item, or is a canary. */
  readonly change?: Change;
  /** The subjects that the change mentions. */
  readonly subjects: readonly Subject[];
  readonly consequences: readonly Consequence[];
  /** Undefined if the record can't be read, or an earlier release wrote it. */
  readonly correlationId: string | undefined;
  /** When the webhook was received that the record reports, if any; in milliseconds since 1970. */
  readonly receivedAt: number | undefined;
  failure: Failure | undefined;
};

export type RelayDependencies = {
  readonly findErased: FindErased;
  readonly versionedRecords: Pick<VersionedRecords, "readAhead" | "loadState">;
  /** Whether a confirmed deletion of a user also erases the user. */
  readonly erasesOnDeletion: boolean;
  readonly settings: DeriveSettings;
  /** Absent if the settings map no attributes. `asks`: query the provider if their order is unknown. */
  readonly attributes?: { readonly asks: boolean } | undefined;
  /** Whether the settings map the reasons why accounts are connected or disconnected. */
  readonly givesReasons?: boolean;
  /** Absent if the stage has no `readiness` setting. */
  readonly readiness?: Readiness | undefined;
  /** Links an account to its user. Idempotent. */
  readonly link: (userId: string, accountId: string) => Promise<void>;
  /** Deletes the object that an expired item pointed to, unless another item still points to it. */
  readonly removeSuperseded: (superseded: SupersededObject) => Promise<void>;
  readonly send: Send;
  /** URLs of the queues. `deadlines` and `canary` are absent if the stage has no such setting. */
  readonly queues: {
    readonly fetch: string;
    readonly erase: string;
    readonly deadlines?: string | undefined;
    readonly canary?: string | undefined;
  };
  /** Sends messages to the subscribers. */
  readonly publish: Publish;
  readonly marks: ReturnType<typeof recordMarks>;
  /**
   * Stores records that can't be processed, where `repair --failures` finds them.
   * @param subscriber the only one that did not get their messages; absent: they were not relayed at all
   */
  readonly park: (records: readonly StreamRecord[], reason: string, subscriber?: string) => Promise<void>;
  readonly now: () => Date;
  readonly log: Log;
};

/** A step of a change; without one, logs name no event. */
function stepOf(consequences: readonly Consequence[], change?: Change): Step {
  return {
    ...present({ change }),
    subjects: change === undefined ? [] : subjectsIn(change),
    consequences,
    correlationId: change && correlationOfChange(change),
    receivedAt: change && receivedAtOfChange(change),
    failure: undefined,
  };
}

/** Derives a record's consequences as if nobody were erased, or the failure of reading it. */
export function derive(record: StreamRecord, { erasesOnDeletion, settings }: RelayDependencies): Step {
  try {
    const expired = readExpired(record);
    if (expired !== undefined)
      return stepOf(expired.map((superseded) => ({ type: "removeObject", superseded })));
    const canary = readCanary(record);
    if (canary !== undefined) return stepOf([{ type: "confirmCanary", id: canary }]);
    const change = readChange(record);
    const erasure = erasesOnDeletion ? erasureOnDeletion(change) : undefined;
    const erasures = erasure === undefined ? [] : [erase(erasure, correlationOfChange(change))];
    return stepOf([...consequencesOf(change, settings), ...erasures], change);
  } catch (error) {
    return { ...stepOf([]), failure: failureOf(error) };
  }
}

/**
 * Adds the attributes of users to messages, and drops what concerns erased subjects. All reads share a request, or two
 * if an event names a user other than its account's.
 */
export async function completeSteps(
  derived: readonly Step[],
  { attributes, findErased, versionedRecords, log }: RelayDependencies,
): Promise<Step[]> {
  const [erased, users] = await Promise.all([
    findErased(derived.flatMap(({ subjects }) => subjects)).catch(failureOf),
    Promise.all(derived.map((step) => attributes && readUser(step, versionedRecords.loadState))),
  ]);
  // If the tombstones could not be read, nothing is relayed and Lambda retries the batch.
  if ("type" in erased) return derived.map((step) => ({ ...step, consequences: [], failure: erased }));
  const sent = new Set<string>();
  return derived.map((step, index) => {
    const task = step.change && eraseTaskForLateData(step.change, erased);
    if (task === undefined) return addAttributes(step, users[index]);
    log("ARRIVED_LATE", { correlationId: step.correlationId });
    const text = writeEraseTask(task);
    const consequences = sent.has(text) ? [] : [erase(task, step.correlationId)];
    sent.add(text);
    return { ...step, consequences, receivedAt: undefined };
  });
}

/** The user whose attributes the step's messages carry, or the failure of reading it. */
async function readUser(
  { change, consequences }: Step,
  loadState: LoadState,
): Promise<State | Failure | undefined> {
  if (change === undefined || !consequences.some(({ type }) => type === "publish")) return undefined;
  return userOf(change, loadState).catch(failureOf);
}

function addAttributes(step: Step, user: State | Failure | undefined): Step {
  if (user === undefined) return step;
  if ("type" in user) return { ...step, failure: user };
  const consequences = step.consequences.map((each) =>
    each.type === "publish" ? { ...each, message: withAttributes(each.message, user) } : each,
  );
  return { ...step, consequences };
}

function erase(task: EraseTask, correlationId: string | undefined): Consequence {
  return { type: "erase", task: { ...task, ...present({ correlationId }) } };
}

/** How long the webhooks behind messages took to the subscribers' queues. */
export function latenciesOf(steps: readonly Step[], now: Date): Pick<LogFields, "latencies"> {
  const published = steps.filter(({ consequences }) => consequences.some(({ type }) => type === "publish"));
  const receivedAt = published.flatMap((step) => step.receivedAt ?? []);
  if (receivedAt.length === 0) return {};
  return { latencies: { toSubscriber: millisecondsSince(receivedAt, now.getTime()) } };
}

export type Readiness = {
  readonly records: ReadinessRecords;
  readonly partitions: Pick<ReturnType<typeof partitions>, "accountsOf">;
  readonly settings: ReadinessSettings;
  /** DynamoDB's clock, in milliseconds since 1970. */
  readonly clock: () => number;
};

/** Updates an account's readiness after a change of its state or documents. */
export function followReadiness(
  change: Extract<Change, { type: "state" | "document" }>,
  { records, settings, clock }: Readiness,
): Promise<void> {
  return records.update(change.after.subject, async (stored) => {
    if (change.type === "document") return stored && afterDocument(stored, change.after, clock());
    const { after: state } = change;
    if (!beginsConnection(stored, state)) return stored && afterState(stored, state);
    const documents = await records.documents(state.subject, settings.endpoints);
    return beginConnection(stored, state, documents, { settings, now: clock() });
  });
}

/** Announces a user's accounts. They are read after the version that the write replaces. */
export function followAccounts(
  { userId, correlationId }: Extract<Consequence, { type: "followAccounts" }>,
  { records, partitions, settings: { users: rule = "all" }, clock }: Readiness,
): Promise<void> {
  const user = { kind: "user", id: userId } as const;
  return records.updateUser(user, async (stored) => {
    const ids = await partitions.accountsOf(userId, { isConsistent: true });
    const accounts = await records.accounts(ids);
    return announceUser(stored, user, accounts, { rule, now: clock(), correlationId });
  });
}
