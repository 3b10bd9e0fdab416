import { retryable } from "../core/failures.ts";
import { fieldsOf, numberOf, optionalBoolean, optionalText, present } from "../core/parse.ts";
import type { Attributes } from "../event/attributes.ts";
import { type IncomeEvent, isUnordered } from "../event/events.ts";
import { parseSubject, type Subject, subjectOf } from "../event/subjects.ts";
import {
  afterAnswer,
  afterReport,
  type KnownAttributes,
  outcomeOfReport,
  parseKnownAttributes,
  type Report,
} from "./attributes.ts";
import { type Claim, claimOf } from "./claim.ts";
import {
  type Connection,
  connectionAfterAnswer,
  connectionAfterEvent,
  parseConnection,
} from "./connection.ts";
import {
  addReceipt,
  type LastChange,
  type Outcome,
  type ProcessedReceipts,
  parseLastChange,
  parseProcessedReceipts,
  receiptKey,
} from "./last-change.ts";
import { parseStatus, type Status, statusAfterAnswer, statusAfterEvent } from "./status.ts";

const deletionSources = ["webhook", "reconciliation"] as const;
type DeletionSource = (typeof deletionSources)[number];

/** What is known of a user, an account or a company account. */
export type State = {
  readonly subject: Subject;
  /** Rises by one with each change; the `sequence` of messages. */
  readonly version: number;
  readonly connected?: boolean;
  /** Final, unless only reconciliation reported the deletion: `account.restored` takes that back. */
  readonly deleted: boolean;
  /** Contradicted by something that no time could order: holds until the provider has answered. */
  readonly unconfirmed: boolean;
  /**
   * The time, ISO 8601, of the newest event that announced `connected`: an event that does not tell it has no say
   * in its order. Kept only while all that reported it came with a time. What has none (or the provider's answer)
   * has no place in that order, so from then on contradictions are asked about.
   */
  readonly asOf?: string;
  /** Who reported the deletion, whether it took effect or the provider is still to confirm it. */
  readonly deletionBy?: DeletionSource;
  readonly userId?: string;
  readonly datasourceId?: string;
  readonly connection?: Connection;
  readonly status?: Status;
  /** Of a user. */
  readonly attributes?: KnownAttributes;
  readonly processed: ProcessedReceipts;
  readonly latest: LastChange;
};

/** What the provider says when it is asked. */
export type Answer =
  | { readonly found: true; readonly connected?: boolean; readonly attributes?: Attributes }
  | { readonly found: false };

export type ApplyOptions = {
  /** When the webhook of this receipt was sent to its queue (`SentTimestamp`); absent: when it was received. */
  readonly since?: number | undefined;
  /** Whether connections are followed, which readiness needs; absent: where `since` is known. */
  readonly followsConnections?: boolean;
  /** Whether states and messages say since when and why an account is connected or is not. */
  readonly givesReasons?: boolean;
  /**
   * Whether the provider is asked before a user's deletion is believed, also where the event has an id or a time: what
   * erases a user must not rest on the webhook's secret alone.
   */
  readonly confirmsUserDeletions?: boolean;
  /** Whether the provider can be asked which attributes a user has; else the report that was sent last counts. */
  readonly asksForUsers?: boolean;
};

/** @throws permanent failure naming the field */
export function parseState(value: unknown): State {
  const fields = fieldsOf(value, "state");
  return present<State>({
    subject: parseSubject(fields.subject),
    version: numberOf(fields, "version"),
    connected: optionalBoolean(fields, "connected"),
    deleted: fields.deleted === true,
    unconfirmed: fields.unconfirmed === true,
    asOf: optionalText(fields, "asOf"),
    deletionBy: deletionSources.find((source) => source === fields.deletionBy),
    userId: optionalText(fields, "userId"),
    datasourceId: optionalText(fields, "datasourceId"),
    connection: parseConnection(fields.connection),
    status: parseStatus(fields.status),
    attributes: fields.attributes === undefined ? undefined : parseKnownAttributes(fields.attributes),
    processed: parseProcessedReceipts(fields),
    latest: parseLastChange(fields.latest),
  });
}

/**
 * Projects one receipt of an event into the state that is known.
 * @param receipts how often the event's bytes had been received, this time included
 * @returns the next state, or undefined where nothing changes: the receipt was processed before, or bytes that
 * came again agree with a confirmed state
 */
export function applyEvent(
  state: State | undefined,
  event: IncomeEvent,
  receipts: number,
  options: ApplyOptions = {},
): State | undefined {
  const before = state ?? unknown(event);
  const key = receiptKey(event, receipts);
  if (before.processed.includes(key)) return undefined;
  const isAgain = receipts > 1;
  // An event with its own id or time that comes again is a retry: it says nothing new.
  if (isAgain && !isUnordered(event)) return undefined;
  const outcome = decideOutcome(before, event, options);
  const report = reportOf(before, event, options);
  const version = before.version + 1;
  const attributes =
    report === undefined ? before.attributes : afterReport(before.attributes, report, version);
  const counts = options.asksForUsers !== true && attributes?.since !== before.attributes?.since;
  if (isAgain && outcome !== "unconfirmed" && !counts) return undefined;
  const { attributes: _, ...announced } = event;
  const { connection: known, ...next } = apply(before, event, outcome);
  const { since, followsConnections = true, givesReasons = false } = options;
  const status = givesReasons ? statusAfterEvent(before, event, outcome, since) : before.status;
  const connection =
    since === undefined || !followsConnections || before.subject.kind === "user"
      ? known
      : connectionAfterEvent(known, {
          wasConnected: before.connected === true,
          claimed: claimOf(event).connected,
          outcome,
          isAgain,
          since,
        });
  return {
    ...next,
    ...present({ connection, attributes, status }),
    version,
    processed: addReceipt(before.processed, key),
    latest: isAgain
      ? { cause: "again", correlationId: event.id }
      : { cause: "event", event: announced, outcome },
  };
}

/**
 * Writes the provider's answer into the state that asked for it.
 * @param correlationId of what led to the question
 * @returns undefined where the state has moved on since version `asked`: a later ask will answer
 * @throws retryable failure where the provider knows nobody though no event announced a deletion: it may lag, or its
 * path may be wrong, and a deletion is final
 */
export function applyProviderAnswer(
  state: State | undefined,
  askedVersion: number,
  answer: Answer,
  { at, correlationId }: { readonly at: Date; readonly correlationId?: string | undefined },
): State | undefined {
  if (state === undefined || state.version !== askedVersion || state.deleted) return undefined;
  if (!answer.found && state.deletionBy === undefined) {
    throw retryable("the provider does not know the subject, and no event announced its deletion");
  }
  const { connected: before, asOf: _, deletionBy, connection, attributes, status, ...rest } = state;
  const version = state.version + 1;
  const { connected, attributes: answered } = answer.found ? answer : {};
  return {
    ...rest,
    ...present({
      connected: connected ?? before,
      attributes: answered === undefined ? attributes : afterAnswer(attributes, answered, version, at),
      deletionBy: answer.found ? undefined : deletionBy,
      connection: connectionAfterAnswer(connection, before === true, connected),
      status: statusAfterAnswer(status, before, connected, at),
    }),
    deleted: !answer.found,
    unconfirmed: false,
    version,
    latest: { cause: "answer", at: at.toISOString(), ...present({ correlationId }) },
  };
}

function unknown(event: IncomeEvent): State {
  return {
    subject: subjectOf(event),
    version: 0,
    deleted: false,
    unconfirmed: false,
    processed: [],
    latest: { cause: "again" },
  };
}

/** Whether a deletion can be taken back: only reconciliation reported it. */
export function isRestorable({ deleted, deletionBy }: State): boolean {
  return deleted && deletionBy === "reconciliation";
}

/** What an event says of a user's attributes; undefined where it says nothing, or the user is deleted. */
function reportOf(state: State, event: IncomeEvent, { since }: ApplyOptions): Report | undefined {
  const { type, time, attributes: values, receivedAt } = event;
  if (values === undefined || state.deleted || state.subject.kind !== "user") return undefined;
  return { type, values, since: since ?? Date.parse(receivedAt), ...present({ time }) };
}

function decideOutcome(state: State, event: IncomeEvent, options: ApplyOptions): Outcome {
  // The provider is asked what happened meanwhile.
  if (event.type === "account.restored") return isRestorable(state) ? "unconfirmed" : "stale";
  if (state.deleted) return "stale";
  const claim = claimOf(event);
  if (claim.deleted) {
    const { confirmsUserDeletions = false } = options;
    const isAsked = isUnordered(event) || (confirmsUserDeletions && event.type === "user.deleted");
    return isAsked ? "unconfirmed" : "applied";
  }
  const report = reportOf(state, event, options);
  const outcome = outcomeOfClaim(state, event, claim);
  return report === undefined || outcome !== "agreed"
    ? outcome
    : outcomeOfReport(state.attributes, report, options.asksForUsers === true);
}

function outcomeOfClaim(state: State, event: IncomeEvent, claim: Claim): Outcome {
  const order = claim.connected === undefined ? "unordered" : compareTimes(state.asOf, event.time);
  if (order === "older") return "stale";
  // While an answer is awaited, whatever comes in may be newer or older than the question: ask again.
  if (state.unconfirmed) return "unconfirmed";
  const isNews = claim.connected !== undefined && claim.connected !== state.connected;
  if (!isNews) return state.version === 0 || order === "newer" ? "applied" : "agreed";
  if (order === "newer" || state.connected === undefined) return "applied";
  return "unconfirmed";
}

/**
 * How an event's time stands to that of what is known. `unordered` where either has none, or where both are the
 * same moment: a provider's times may be whole seconds, and within one nothing says which came first.
 */
function compareTimes(asOf: string | undefined, time: string | undefined): "older" | "newer" | "unordered" {
  if (asOf === undefined || time === undefined || asOf === time) return "unordered";
  return time < asOf ? "older" : "newer";
}

function apply(state: State, event: IncomeEvent, outcome: Outcome): State {
  const { deletionBy: _, ...rest } = { ...state, ...ownersAfter(state, event) };
  const known = { ...rest, ...present({ deletionBy: deletionByAfter(state, event, outcome) }) };
  if (outcome === "stale") return known;
  const claim = claimOf(event);
  const isBelieved = outcome === "applied";
  const { connected: __, asOf: ___, ...others } = known;
  return {
    ...others,
    ...present({
      connected: isBelieved ? (claim.connected ?? state.connected) : state.connected,
      asOf: orderAfter(state, event, outcome),
    }),
    deleted: isBelieved && claim.deleted,
    unconfirmed: outcome === "unconfirmed",
  };
}

/** A webhook's report of a deletion makes it final, also where reconciliation was first. */
function deletionByAfter(state: State, event: IncomeEvent, outcome: Outcome): State["deletionBy"] {
  if (event.type === "account.restored" && outcome !== "stale") return undefined;
  if (!claimOf(event).deleted || state.deletionBy === "webhook") return state.deletionBy;
  return event.reconciled === true ? "reconciliation" : "webhook";
}

/** An account belongs to one user and one source for good: the first that is reported stays, however late it comes. */
function ownersAfter(state: State, event: IncomeEvent): Pick<State, "userId" | "datasourceId"> {
  return present({
    userId: state.userId ?? event.userId,
    datasourceId: state.datasourceId ?? event.datasourceId,
  });
}

function orderAfter(state: State, event: IncomeEvent, outcome: Outcome): string | undefined {
  if (claimOf(event).connected === undefined || outcome === "unconfirmed") return state.asOf;
  if (outcome === "applied") return event.time;
  return event.time === state.asOf ? state.asOf : undefined;
}
