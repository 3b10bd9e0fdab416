import { retryable } from "../core/failures.ts";
import {
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  optionalBoolean,
  optionalNumber,
  optionalText,
  present,
} from "../core/parse.ts";
import {
  afterAnswer,
  afterReport,
  outcomeOfReport,
  parseStoredAttributes,
  type Report,
} from "../event/attributes.ts";
import {
  type Attributes,
  claimOf,
  type IncomeEvent,
  isUnordered,
  type Outcome,
  parseLastChange,
} from "../event/events.ts";
import { addReceipt, parseProcessedReceipts, receiptKey } from "../event/receipts.ts";
import { parseSubject, subjectOf } from "../event/subjects.ts";

const deletionSources = ["webhook", "reconciliation"] as const;

/** The stored state of a user, an account or a company account. */
export type State = ReturnType<typeof parseState>;

/** The provider's answer to a query. */
export type Answer =
  | { readonly found: true; readonly connected?: boolean; readonly attributes?: Attributes }
  | { readonly found: false };

/** `connected` in the provider's answer about one account, at the top level or under `data`. */
export function connectedIn(answer: Fields): boolean | undefined {
  return optionalBoolean(isFields(answer.data) ? { ...answer.data, ...answer } : answer, "connected");
}

export type ApplyOptions = {
  /** When this receipt's webhook was sent to its queue (`SentTimestamp`); defaults to its receipt. */
  readonly since?: number | undefined;
  /** Whether to track connections, which readiness needs; by default if `since` is given. */
  readonly followsConnections?: boolean;
  /** Whether to keep why an account was connected or disconnected. */
  readonly givesReasons?: boolean;
  /**
   * Whether the provider must confirm a user's deletion even if the event has an id or a time. The webhook
   * secret alone must not be enough to erase a user.
   */
  readonly confirmsUserDeletions?: boolean;
  /** Whether the provider can be queried for a user's attributes; otherwise the report sent last wins. */
  readonly asksForUsers?: boolean;
};

/** @throws permanent failure naming the field */
export function parseState(value: unknown) {
  const fields = fieldsOf(value, "state");
  return present({
    subject: parseSubject(fields.subject),
    /** Increases by one with each change; the `sequence` of messages. */
    version: numberOf(fields, "version"),
    connected: optionalBoolean(fields, "connected"),
    /** Final, unless only reconciliation reported the deletion. `account.restored` undoes that one. */
    deleted: fields.deleted === true,
    /** Contradicted by an event that no time could order. Set until the provider answers. */
    unconfirmed: fields.unconfirmed === true,
    /**
     * The time of the newest event that reported `connected`, ISO 8601. Set only while every such report had a
     * time. After a report without one, or the provider's answer, contradictions are resolved by querying the
     * provider.
     */
    asOf: optionalText(fields, "asOf"),
    /** The source that reported the deletion, even while the provider has not confirmed it. */
    deletionBy: deletionSources.find((source) => source === fields.deletionBy),
    userId: optionalText(fields, "userId"),
    datasourceId: optionalText(fields, "datasourceId"),
    connection: parseConnection(fields.connection),
    /** Users only. */
    attributes: fields.attributes === undefined ? undefined : parseStoredAttributes(fields.attributes),
    /** Keys of the receipts that were processed recently; see `receiptKey`. */
    processed: parseProcessedReceipts(fields),
    latest: parseLastChange(fields.latest),
  });
}

/**
 * Applies one receipt of an event to the stored state.
 * @param receipts number of times the event's bytes were received, including this one
 * @returns the next state, or undefined if nothing changes: the receipt was already processed, or a repeat
 * agrees with a confirmed state
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
  // A repeat of an event with its own id or time is a retry and adds nothing.
  if (isAgain && !isUnordered(event)) return undefined;
  const outcome = decideOutcome(before, event, options);
  const report = reportOf(before, event, options);
  const version = before.version + 1;
  const attributes =
    report === undefined ? before.attributes : afterReport(before.attributes, report, version);
  const counts = options.asksForUsers !== true && attributes?.since !== before.attributes?.since;
  if (isAgain && outcome !== "unconfirmed" && !counts) return undefined;
  const { attributes: _, ...announced } = event;
  const { connection: stored, ...next } = apply(before, event, outcome);
  const { since, followsConnections = since !== undefined, givesReasons = false } = options;
  const isKept = before.subject.kind !== "user" && (followsConnections || givesReasons);
  const connection = isKept
    ? connectionAfterEvent(stored, event, {
        ...{ wasConnected: before.connected, outcome, isAgain, followsConnections },
        since: since ?? Date.parse(event.receivedAt),
      })
    : stored;
  return {
    ...next,
    ...present({ connection, attributes }),
    version,
    processed: addReceipt(before.processed, key),
    latest: isAgain
      ? { cause: "again", correlationId: event.id }
      : { cause: "event", event: announced, outcome },
  };
}

/**
 * Applies the provider's answer to the state that requested it.
 * @param correlationId id of what caused the query
 * @returns undefined if the state has changed since `askedVersion`, because a later query will answer
 * @throws retryable failure if the provider does not find the subject but no event reported its deletion. The
 * provider may lag, or the path may be wrong, and a deletion is final.
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
  const { connected: before, asOf: _, deletionBy, connection, attributes, ...rest } = state;
  const version = state.version + 1;
  const { connected, attributes: answered } = answer.found ? answer : {};
  return {
    ...rest,
    ...present({
      connected: connected ?? before,
      attributes: answered === undefined ? attributes : afterAnswer(attributes, answered, version, at),
      deletionBy: answer.found ? undefined : deletionBy,
      connection: connectionAfterAnswer(connection, before, connected),
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

/** Whether a deletion can be undone: only reconciliation reported it. */
export function isRestorable({ deleted, deletionBy }: State): boolean {
  return deleted && deletionBy === "reconciliation";
}

/** The attributes that an event reports; undefined if it reports none or the user is deleted. */
function reportOf(state: State, event: IncomeEvent, { since }: ApplyOptions): Report | undefined {
  const { type, time, attributes: values, receivedAt } = event;
  if (values === undefined || state.deleted || state.subject.kind !== "user") return undefined;
  return { type, values, since: since ?? Date.parse(receivedAt), ...present({ time }) };
}

function decideOutcome(state: State, event: IncomeEvent, options: ApplyOptions): Outcome {
  // The provider must report the current state.
  if (event.type === "account.restored") return isRestorable(state) ? "unconfirmed" : "stale";
  if (state.deleted) return "stale";
  if (claimOf(event).deleted) {
    const { confirmsUserDeletions = false } = options;
    const isAsked = isUnordered(event) || (confirmsUserDeletions && event.type === "user.deleted");
    return isAsked ? "unconfirmed" : "applied";
  }
  const report = reportOf(state, event, options);
  const outcome = outcomeOfClaim(state, event);
  return report === undefined || outcome !== "agreed"
    ? outcome
    : outcomeOfReport(state.attributes, report, options.asksForUsers === true);
}

function outcomeOfClaim(state: State, event: IncomeEvent): Outcome {
  const claim = claimOf(event);
  const order = claim.connected === undefined ? "unordered" : compareTimes(state.asOf, event.time);
  if (order === "older") return "stale";
  // While an answer is pending, an event may be older or newer than the query, so query again.
  if (state.unconfirmed) return "unconfirmed";
  const isNews = claim.connected !== undefined && claim.connected !== state.connected;
  if (!isNews) return state.version === 0 || order === "newer" ? "applied" : "agreed";
  if (order === "newer" || state.connected === undefined) return "applied";
  return "unconfirmed";
}

/**
 * Compares an event's time with that of the stored state. `unordered` if either is missing or both are equal,
 * because a provider's times may be whole seconds.
 */
function compareTimes(asOf: string | undefined, time: string | undefined): "older" | "newer" | "unordered" {
  if (asOf === undefined || time === undefined || asOf === time) return "unordered";
  return time < asOf ? "older" : "newer";
}

function apply(state: State, event: IncomeEvent, outcome: Outcome): State {
  const { deletionBy: _, ...rest } = { ...state, ...ownersAfter(state, event) };
  const updated = { ...rest, ...present({ deletionBy: deletionByAfter(state, event, outcome) }) };
  if (outcome === "stale") return updated;
  const claim = claimOf(event);
  const isBelieved = outcome === "applied";
  const { connected: __, asOf: ___, ...others } = updated;
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

/** A webhook's report makes a deletion final, even if reconciliation reported it first. */
function deletionByAfter(state: State, event: IncomeEvent, outcome: Outcome): State["deletionBy"] {
  if (event.type === "account.restored" && outcome !== "stale") return undefined;
  if (!claimOf(event).deleted || state.deletionBy === "webhook") return state.deletionBy;
  return event.reconciled === true ? "reconciliation" : "webhook";
}

/**
 * An account belongs to one user and one source permanently, so the first reported value wins, however late
 * it arrives.
 */
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

/**
 * When and why an account was connected or disconnected. Stored if the stage has `readiness` or maps reasons.
 * Times are `SentTimestamp` of webhooks, in milliseconds since 1970. Documents read before `since` belong to an
 * earlier connection.
 */
export type Connection = NonNullable<ReturnType<typeof parseConnection>>;

export function connectionAfterEvent(
  known: Connection | undefined,
  event: IncomeEvent,
  {
    wasConnected,
    outcome,
    isAgain,
    since,
    followsConnections,
  }: {
    readonly wasConnected: boolean | undefined;
    readonly outcome: Outcome;
    /** A repeat of the same bytes announces nothing. */
    readonly isAgain: boolean;
    readonly since: number;
    /** Whether a connection that was interrupted is a new one, as readiness needs. */
    readonly followsConnections: boolean;
  },
): Connection | undefined {
  const { connected } = claimOf(event);
  const reason = connected === undefined ? undefined : event.reason;
  switch (outcome) {
    case "stale":
      return known;
    case "applied":
    case "agreed":
      if (connected === undefined) return known;
      if (connected !== wasConnected) return present({ since, reason });
      return reason === undefined ? known : { ...known, reason };
    case "unconfirmed": {
      const claimed = connected === undefined ? known?.asked : { connected, reason };
      const ends = followsConnections && connected === false && !isAgain;
      return present<Connection>({
        since: known?.since,
        reason: known?.reason,
        asked: present<NonNullable<Connection["asked"]>>({
          connected: claimed?.connected,
          reason: claimed?.reason,
          since: Math.max(since, known?.asked?.since ?? 0),
        }),
        isInterrupted: known?.isInterrupted ?? (ends || undefined),
      });
    }
  }
}

/** @param connected the provider's answer; undefined if it did not say */
export function connectionAfterAnswer(
  known: Connection | undefined,
  wasConnected: boolean | undefined,
  connected: boolean | undefined,
): Connection | undefined {
  if (known === undefined) return undefined;
  const { asked, isInterrupted = false, since, reason } = known;
  if (connected === undefined) return present<Connection>({ since, reason });
  const isSame = connected === wasConnected;
  const isNew = !isSame || (connected && isInterrupted);
  return present<Connection>({
    since: isNew ? (asked?.since ?? since) : since,
    reason: isSame ? reason : asked?.connected === connected ? asked.reason : undefined,
  });
}

/** @throws permanent failure naming the field */
function parseConnection(value: unknown) {
  if (!isFields(value)) return undefined;
  return present({
    /**
     * When the webhook was sent that reported it or, if the provider decided, the last one before its answer.
     * Absent if that was before the settings were enabled.
     */
    since: optionalNumber(value, "since"),
    reason: optionalText(value, "reason"),
    /**
     * The last event that awaits the provider's answer, and what the last one claimed that said whether it is
     * connected.
     */
    asked: value.asked === undefined ? undefined : parseAsked(value.asked),
    /** An event reported a disconnection, and the provider has not answered yet. Only with `readiness`. */
    isInterrupted: value.isInterrupted === true ? true : undefined,
  });
}

function parseAsked(value: unknown) {
  const fields = fieldsOf(value, "connection.asked");
  return present({
    since: numberOf(fields, "since"),
    connected: optionalBoolean(fields, "connected"),
    reason: optionalText(fields, "reason"),
  });
}
