import type { Context } from "aws-lambda";
import { FailureError, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { latencyMetrics } from "../../domain/event/events.ts";
import { loggedName, type Subject } from "../../domain/event/subjects.ts";

/** All codes that functions log. Nothing else can get into a log. */
export const logCodes = {
  WEBHOOK_ACCEPTED: "a webhook is durable in its queue",
  WEBHOOK_UNREADABLE: "a webhook's body is no JSON and went to the dead-letter queue",
  WEBHOOK_NOT_KEPT:
    "a webhook's body can't be read and may hold credentials: the body is not kept, and the answer is 503",
  WEBHOOK_REFUSED:
    "a webhook's secret or signature is missing or wrong, its source is not allowed, or its body is too large",
  WEBHOOK_SECRET_EMPTY: "no webhook secret is configured: every webhook is refused",
  WEBHOOK_SECRET_STALE:
    "Secrets Manager is unavailable: webhooks are checked with the secret that was read last, for up to 15 minutes",
  WEBHOOK_FAILED: "a webhook could not be made durable: the provider will send it again",
  EVENT_STORED: "events were stored for the first time",
  EVENT_DUPLICATE: "duplicates of stored events: they are only counted",
  EVENT_IGNORED: "events whose name the settings ignore came: they are not stored",
  ATTRIBUTE_LEFT_OUT: "attributes of users were left out: an object, a list, too long, or not evaluable",
  MESSAGE_REJECTED: "a message can't be processed and went to the dead-letter queue",
  MESSAGE_FAILED: "a message failed and will be received again",
  TASK_POSTPONED: "a call to the provider will be tried again later",
  TASK_SKIPPED: "a task was skipped: its document was read since",
  START_UNANSWERED: "no event answered the start of a data fetch in time: its endpoints are read anyway",
  TASK_DONE: "a task of the fetch queue was done",
  PROVIDER_DOWN: "the provider was found down, by calls in a row or by a probe: nobody calls it for a while",
  PROVIDER_BACK: "the provider answers again: what waited is called within its rate",
  RELAYED: "changes of the table were relayed: their tasks and messages are in their queues",
  RECORD_FAILED: "a change could not be relayed and will be tried again",
  RECORD_PARKED: "a change cannot be relayed, or ended the process several times: it is parked",
  ARRIVED_LATE:
    "a change of somebody who was erased came after all: nothing but its own erasure follows from it",
  ERASED: "a user or an account was erased with all that was its own",
  ERASED_AGAIN: "what functions in flight had written of somebody who was erased is removed, too",
  ERASURE_HELD: "a legal hold is on somebody who was to be erased: nothing was erased",
  SUBSCRIBER_PARKED: "a subscriber's queue refuses messages: they were parked for it alone",
  SUBSCRIBER_RESENT: "a subscriber's queue takes messages again: what was parked for it was sent",
  SUBSCRIBER_UNREACHABLE: "a subscriber's queue has refused messages for a while: they are still parked",
  READ: "a subscriber read a state or a document",
  READ_REFUSED: "a caller asked for what the filter of its subscriber does not let through: it got nothing",
  READ_FAILED: "a state or a document could not be read: the caller got an error, and may try again",
  DOCUMENT_DATA_MISSING: "a document's data is not in the bucket where it was stored",
  TOKEN_KEPT: "the token is not near its end",
  TOKEN_STILL_VALID: "some calls were refused, but the token is still valid: it is kept",
  TOKEN_UNPROVEN: "a token could not be tried, for the provider failed otherwise than by refusing it",
  TOKEN_PACED: "another run asked for a refresh less than a minute ago: the token is kept until the next run",
  TOKEN_REFRESHED: "a new token was proven and is current",
  TOKEN_DISCARDED: "a new token is malformed, or the provider refused it: it was discarded",
  TOKEN_OVERTAKEN: "a new token is not current: an operator or another run was faster",
  TOKEN_UNCHANGED: "the provider answered a refresh with a token that is not newer",
  TOKEN_SHORT_LIVED: "the token can end between two runs: lower token.refreshEveryMinutes",
  TOKEN_TIME_LEFT: "remaining lifetime of the token at the start of a run",
  TOKEN_NEAR_END: "the token should have been refreshed long ago, and is near its end",
  TOKEN_REFUSED: "the provider refused to refresh the token",
  TOKEN_MISSING: "no token is set: nothing can be fetched",
  DEAD_LETTERS_ARCHIVED:
    "dead letters that near their end were written to the archive and taken out of their queue",
  ARCHIVING_FAILED: "dead letters that near their end could not be archived and stay in their queue",
  RECONCILED: "the provider's list was compared with the table to its end",
  DELETIONS_FOUND:
    "accounts were missing in the provider's lists in two scheduled runs in a row: the provider is asked again later",
  DELETIONS_HELD: "more accounts were missing than may be deleted without an operator: none is",
  RECONCILIATION_PAUSED: "the comparison with the provider's list goes on with the next tick",
  WEBHOOKS_MAY_BE_LOST: "webhooks may have been lost for a time: a reconciliation makes up for it",
  RECONCILIATION_OVERTAKEN: "another tick goes on with the comparison from the same checkpoint",
  RECONCILIATION_SKIPPED: "a listed item, or a user's accounts, could not be read and were not compared",
  RECONCILIATION_FAILED: "the comparison ended before the end of the list: something is to be corrected",
  RECONCILIATION_OVERDUE:
    "a run has not ended, or the next one not begun, after twice the time between two runs",
  CANARY_ARRIVED: "the canary's synthetic webhook came through the pipeline to the canary's queue",
  CANARY_MISSING: "the canary's synthetic webhook was refused, or did not come through the pipeline in time",
  WEBHOOKS_REGISTERED: "all webhook kinds are registered with the provider",
  WEBHOOKS_NOT_REGISTERED: "the schedule registers the webhooks once a token is set",
  WEBHOOKS_REGISTERED_PREVIOUS:
    "all webhook kinds are registered with the previous secret: some receivers may not know the new one yet",
} as const;
export type LogCode = keyof typeof logCodes;

/**
 * Levels of the codes that concern an operator. WARN: something may go wrong, or is retried. ERROR: something
 * was given up, or is stuck. All others are INFO. scripts/documents/log-remedies.ts has the remedy for each.
 */
export const logLevels = {
  WEBHOOK_UNREADABLE: "ERROR",
  WEBHOOK_NOT_KEPT: "ERROR",
  WEBHOOK_REFUSED: "WARN",
  WEBHOOK_SECRET_EMPTY: "ERROR",
  WEBHOOK_SECRET_STALE: "WARN",
  WEBHOOK_FAILED: "WARN",
  ATTRIBUTE_LEFT_OUT: "WARN",
  MESSAGE_REJECTED: "ERROR",
  MESSAGE_FAILED: "WARN",
  TASK_POSTPONED: "WARN",
  START_UNANSWERED: "WARN",
  PROVIDER_DOWN: "ERROR",
  RECORD_FAILED: "WARN",
  RECORD_PARKED: "ERROR",
  ERASURE_HELD: "WARN",
  SUBSCRIBER_PARKED: "WARN",
  SUBSCRIBER_UNREACHABLE: "ERROR",
  READ_REFUSED: "WARN",
  READ_FAILED: "WARN",
  DOCUMENT_DATA_MISSING: "ERROR",
  TOKEN_STILL_VALID: "WARN",
  TOKEN_UNPROVEN: "WARN",
  TOKEN_DISCARDED: "ERROR",
  TOKEN_OVERTAKEN: "WARN",
  TOKEN_UNCHANGED: "WARN",
  TOKEN_SHORT_LIVED: "WARN",
  TOKEN_NEAR_END: "ERROR",
  TOKEN_REFUSED: "ERROR",
  TOKEN_MISSING: "ERROR",
  ARCHIVING_FAILED: "ERROR",
  DELETIONS_HELD: "ERROR",
  WEBHOOKS_MAY_BE_LOST: "WARN",
  RECONCILIATION_PAUSED: "WARN",
  RECONCILIATION_SKIPPED: "WARN",
  RECONCILIATION_FAILED: "ERROR",
  RECONCILIATION_OVERDUE: "ERROR",
  CANARY_MISSING: "ERROR",
  WEBHOOKS_NOT_REGISTERED: "WARN",
} as const satisfies Partial<Record<LogCode, "WARN" | "ERROR">>;
const levels: Partial<Record<LogCode, "WARN" | "ERROR">> = logLevels;

/**
 * Fields that may be logged: counts, our own reasons, and ids of events, messages and requests. No body, header,
 * token or personal data. Subjects are logged by their digests (`loggedName`): lines outlive an erasure.
 */
export type LogFields = {
  readonly kind?: string;
  /** Source address of a refused webhook. */
  readonly source?: string;
  /** Follows an event from its webhook to the subscribers' messages; see docs/reference/logs.md. */
  readonly correlationId?: string | undefined;
  /** Correlation ids of a line about several events. */
  readonly correlationIds?: readonly string[];
  /** Ids of the webhooks that delivered the events of `correlationIds`, in the same order, if they differ. */
  readonly webhooks?: readonly string[];
  /** Types of the events of `correlationIds`, in the same order. */
  readonly types?: readonly string[];
  /** Subjects of those events, with the endpoint: `account/<digest>/income`. */
  readonly subjects?: readonly { readonly subject: Subject; readonly endpoint?: string | undefined }[];
  /** Name of an ignored event or an attribute, as written in the settings. */
  readonly name?: string;
  readonly subject?: Subject;
  readonly endpoint?: string;
  readonly task?: string;
  readonly messageId?: string;
  /** Name of the queue in the commands. */
  readonly queue?: string;
  readonly subscriber?: string;
  /** ARN of the reader: a role without its session, a user or an account. */
  readonly principal?: string;
  readonly status?: number;
  readonly reason?: string;
  readonly delayInSeconds?: number;
  /** ISO 8601. */
  readonly from?: string;
  readonly until?: string;
  readonly count?: number;
  /** Messages to subscribers. A message to several subscribers counts once. */
  readonly messages?: number;
  /** Tasks for other functions. */
  readonly tasks?: number;
  readonly remainingInSeconds?: number;
  readonly listed?: number;
  readonly accounts?: number;
  readonly missing?: number;
  readonly conflicting?: number;
  readonly orphaned?: number;
  readonly deleted?: number;
  readonly reread?: number;
  readonly skipped?: number;
  /** Number of items that were missing or wrong in the table. */
  readonly drift?: number;
  /** Written as an embedded metric format document. */
  readonly latencies?: Readonly<Partial<Record<keyof typeof latencyMetrics, readonly number[]>>>;
};

export type Log = (code: LogCode, fields?: LogFields) => void;

/** For example `store/users`. */
const name = process.env.FUNCTION_NAME;
let requestId: string | undefined;

/**
 * Writes one line of JSON to standard output. Lambda copies it to the function's log group, and uses
 * `timestamp` and `level` to order and filter lines (docs/adr/0011).
 */
export const log: Log = (code, { latencies, ...fields } = {}) => {
  const now = new Date();
  const timestamp = now.toISOString();
  const line = { timestamp, level: levels[code] ?? "INFO", code, function: name, requestId };
  const metrics = latencies && embeddedMetrics(latencies, now);
  process.stdout.write(`${JSON.stringify({ ...line, ...withoutIds(fields), ...metrics })}\n`);
};

function withoutIds({ subject, subjects, ...rest }: LogFields): object {
  return {
    ...rest,
    ...present({
      subject: subject && loggedName(subject),
      subjects: subjects?.map(
        ({ subject: each, endpoint }) => `${loggedName(each)}${endpoint === undefined ? "" : `/${endpoint}`}`,
      ),
    }),
  };
}

/** Source: CloudWatch user guide, "Specification: Embedded metric format". */
const maxValues = 100;

/** Fields from which CloudWatch makes metrics. Of more than 100 values a sample is kept. */
function embeddedMetrics(
  { toSubscriber = [], toDocument = [] }: NonNullable<LogFields["latencies"]>,
  now: Date,
): object {
  const values = Object.entries({
    [latencyMetrics.toSubscriber]: sampleOf(toSubscriber),
    [latencyMetrics.toDocument]: sampleOf(toDocument),
  }).filter(([, { length }]) => length > 0);
  const Metrics = values.map(([Name]) => ({ Name, Unit: "Milliseconds" }));
  return {
    _aws: {
      Timestamp: now.getTime(),
      CloudWatchMetrics: [{ Namespace: process.env.METRICS_NAMESPACE, Dimensions: [[]], Metrics }],
    },
    ...Object.fromEntries(values),
  };
}

function sampleOf(values: readonly number[]): readonly number[] {
  const { length } = values;
  if (length <= maxValues) return values;
  return Array.from(
    { length: maxValues },
    (_, index) => values[Math.floor((index * length) / maxValues)] ?? 0,
  );
}

/** Adds the invocation's request id to a handler's log lines. A process runs one invocation at a time. */
export function logged<Event, Result>(
  handler: (event: Event, context: Context) => Promise<Result>,
): (event: Event, context: Context) => Promise<Result> {
  return (event, context) => {
    requestId = context.awsRequestId;
    return handler(event, context);
  };
}

/**
 * Makes a handler throw only failures of our own. Lambda logs a thrown error with all its properties, and the
 * message of an AWS error may quote data. An unknown error is reported by its name.
 */
export function sanitizeErrors<Args extends readonly unknown[], Result>(
  handler: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await handler(...args);
    } catch (error) {
      throw error instanceof FailureError ? error : new FailureError(failureOf(error));
    }
  };
}
