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
import type { Message } from "../../domain/message/message-schemas.ts";
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
import type { Log, LogFields } from "../runtime/log.ts";
import type { Publish } from "../runtime/subscriber-queues.ts";

/** A record of the batch in progress: its consequences, and its failure, if any. */
export type Step = {
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

/** A parsed change, the subjects that it mentions, and its consequences unless one of them is erased. */
export type Derived = {
  /** Undefined if the record is an expired item. */
  readonly change: Change | undefined;
  readonly correlationId: string | undefined;
  readonly subjects: readonly Subject[];
  readonly consequences: readonly Consequence[];
};

/** Derives each change's consequences as if nobody were erased, or the failure of reading the change. */
export function derive(
  records: readonly StreamRecord[],
  dependencies: RelayDependencies,
): readonly (Derived | Failure)[] {
  return records.map((record) => attempt(() => deriveOne(record, dependencies)));
}

/** Drops consequences of changes about erased subjects, which only lead to the erasure of the late data. */
async function dropErased(
  all: readonly (Derived | Failure)[],
  { findErased, log }: RelayDependencies,
): Promise<readonly Step[]> {
  const subjects = all.flatMap((each) => ("type" in each ? [] : each.subjects));
  // One read for the whole batch. If it fails, nothing is relayed and Lambda retries the batch.
  const erased = await findErased(subjects).catch(failureOf);
  if ("type" in erased) {
    return all.map((each) => failed(erased, "type" in each ? undefined : each.correlationId));
  }
  const late = new Set<string>();
  return all.map((each) => ("type" in each ? failed(each) : unlessErased(each, erased, late, log)));
}

function deriveOne(record: StreamRecord, { erasesOnDeletion, settings }: RelayDependencies): Derived {
  // No correlation id: logs would show a canary as an event.
  const without = (consequences: readonly Consequence[]) => {
    return { change: undefined, correlationId: undefined, subjects: [], consequences };
  };
  const expired = readExpired(record);
  if (expired !== undefined)
    return without(expired.map((superseded) => ({ type: "removeObject", superseded })));
  const canary = readCanary(record);
  if (canary !== undefined) return without([{ type: "confirmCanary", id: canary }]);
  const change = readChange(record);
  const erasure = erasesOnDeletion ? erasureOnDeletion(change) : undefined;
  const correlationId = correlationOfChange(change);
  return {
    change,
    correlationId,
    subjects: subjectsIn(change),
    consequences: [
      ...consequencesOf(change, settings),
      ...(erasure === undefined ? [] : [erase(erasure, correlationId)]),
    ],
  };
}

/** @param sent erase tasks of earlier records in the batch; each is sent once */
function unlessErased(
  { change, correlationId, consequences: usual }: Derived,
  erased: ReadonlySet<string>,
  sent: Set<string>,
  log: Log,
): Step {
  const task = change && eraseTaskForLateData(change, erased);
  if (task === undefined) {
    const receivedAt = change && receivedAtOfChange(change);
    return { correlationId, receivedAt, consequences: usual, failure: undefined };
  }
  log("ARRIVED_LATE", { correlationId });
  const text = writeEraseTask(task);
  const isSent = sent.has(text);
  sent.add(text);
  const consequences = isSent ? [] : [erase(task, correlationId)];
  return { correlationId, receivedAt: undefined, consequences, failure: undefined };
}

/** How long the webhooks behind messages took to the subscribers' queues. */
export function latenciesOf(steps: readonly Step[], now: Date): Pick<LogFields, "latencies"> {
  const published = steps.filter(({ consequences }) => consequences.some(({ type }) => type === "publish"));
  const receivedAt = published.flatMap((step) => step.receivedAt ?? []);
  if (receivedAt.length === 0) return {};
  return { latencies: { toSubscriber: millisecondsSince(receivedAt, now.getTime()) } };
}

function erase(task: EraseTask, correlationId: string | undefined): Consequence {
  return { type: "erase", task: { ...task, ...present({ correlationId }) } };
}

function failed(failure: Failure, correlationId?: string): Step {
  return { correlationId, receivedAt: undefined, consequences: [], failure };
}

function attempt<T>(run: () => T): T | Failure {
  try {
    return run();
  } catch (error) {
    return failureOf(error);
  }
}

/**
 * Adds the attributes of users to messages, and drops what concerns erased subjects. All reads share a request.
 */
export async function stepsOf(
  derived: readonly (Derived | Failure)[],
  dependencies: RelayDependencies,
): Promise<Step[]> {
  const { attributes, versionedRecords } = dependencies;
  const [steps, found] = await Promise.all([
    dropErased(derived, dependencies),
    attributes && readAttributes(derived, versionedRecords.loadState),
  ]);
  return steps.map((step) => (found ? addAttributes(step, found) : step));
}

/**
 * Maps each message to a copy with its user's attributes, or to the failure of reading them. Reads a batch's
 * attributes in one request, or two if an event names a user other than its account's.
 */
async function readAttributes(
  derived: readonly (Derived | Failure)[],
  loadState: LoadState,
): Promise<ReadonlyMap<Message, Message | Failure>> {
  const found = new Map<Message, Message | Failure>();
  const reads = derived.map(async (each) => {
    if ("type" in each || each.change === undefined) return;
    const messages = each.consequences.flatMap((consequence) =>
      consequence.type === "publish" ? [consequence.message] : [],
    );
    if (messages.length === 0) return;
    const user = await userOf(each.change, loadState).catch(failureOf);
    for (const message of messages) {
      if (user !== undefined) found.set(message, "type" in user ? user : withAttributes(message, user));
    }
  });
  await Promise.all(reads);
  return found;
}

function addAttributes(step: Step, found: ReadonlyMap<Message, Message | Failure>): Step {
  let { failure } = step;
  const consequences = step.consequences.map((consequence): Consequence => {
    const message = consequence.type === "publish" ? found.get(consequence.message) : undefined;
    if (consequence.type !== "publish" || message === undefined) return consequence;
    if ("specversion" in message) return { ...consequence, message };
    failure ??= message;
    return consequence;
  });
  return { ...step, consequences, failure };
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
