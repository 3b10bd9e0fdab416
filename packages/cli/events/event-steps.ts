import { taskName } from "../../../domain/fetch/task.ts";
import { type Subscriber, wants } from "../../../domain/message/message.ts";
import { counted } from "../core/text.ts";
import type { LogEntry } from "../logs/log-entries.ts";

/** A step of an event's processing, and its time. */
export type TimedStep = {
  /** ISO 8601 */
  readonly at: string;
  readonly step: string;
  readonly detail: string;
  /** For a call to the provider: its number for this event, from 1. */
  readonly call?: number;
  /** The earliest time of the next try. */
  readonly againAt?: string;
  readonly isFailure?: true;
};

export type StepContext = { readonly id: string; readonly subscribers: readonly Subscriber[] };

type Told = Omit<TimedStep, "at" | "call"> & { readonly isCall?: true };

/** Reasons to wait without a call, or possibly without one. */
const waitsBeforeCall =
  /^(the provider's rate is used up|the provider is down|no token|the token was refused|came while|the document was written|the start can still)/;

/**
 * The steps of an event, the earliest first, from log lines with its id. They show when a message was sent,
 * not whether a subscriber read it.
 * @param entries in the order of time
 */
export function eventSteps(entries: readonly LogEntry[], context: StepContext): readonly TimedStep[] {
  const type = listedIn(entries, context.id, "types");
  let calls = 0;
  return entries.flatMap((entry) =>
    stepsOf(entry, type, context).map(({ isCall, ...told }): TimedStep => {
      if (isCall === true) calls += 1;
      return { at: entry.timestamp, ...told, ...(isCall === true && { call: calls }) };
    }),
  );
}

function stepsOf(entry: LogEntry, type: string | undefined, context: StepContext): readonly Told[] {
  switch (entry.code) {
    case "WEBHOOK_ACCEPTED":
      return [{ step: "webhook", detail: "in its queue" }];
    case "WEBHOOK_UNREADABLE":
      return [failure("webhook", "not JSON")];
    case "WEBHOOK_NOT_KEPT":
      return [failure("webhook", `${reasonOf(entry)}: the body is not stored; the provider retries`)];
    case "WEBHOOK_FAILED":
      return [failure("webhook", `${reasonOf(entry)}: the provider retries`)];
    case "EVENT_STORED":
      return [{ step: "stored", detail: type ?? "for the first time" }];
    case "EVENT_DUPLICATE":
      return [{ step: "duplicate", detail: "already stored" }];
    case "EVENT_IGNORED":
      return [{ step: "ignored", detail: ignoredText(entry) }];
    case "RELAYED":
      return relayed(entry, type, context);
    case "TASK_DONE":
      return [{ step: "provider", detail: `${taskOf(entry)}: answered`, isCall: true }];
    case "TASK_SKIPPED":
      return [{ step: "skipped", detail: `${taskOf(entry)}: already covered` }];
    case "TASK_POSTPONED":
      return [postponed(entry)];
    case "START_UNANSWERED":
      return [failure("provider", "no event followed the start: its endpoints are read anyway")];
    case "SUBSCRIBER_PARKED":
      return [failure("subscriber", `${String(entry.subscriber)} refuses messages: ${reasonOf(entry)}`)];
    case "MESSAGE_REJECTED":
      return [failure("dead letter", reasonOf(entry))];
    case "RECORD_PARKED":
      return [failure("parked", `${reasonOf(entry)}. Relay it: npx income-events repair --failures`)];
    case "MESSAGE_FAILED":
    case "RECORD_FAILED":
      return [failure("failed", `${reasonOf(entry)}: retried`)];
    default:
      return [];
  }
}

function ignoredText({ name }: LogEntry): string {
  return typeof name === "string"
    ? `mapping.<kind>.types ignores ${JSON.stringify(name)}`
    : "the webhook has no events";
}

function postponed(entry: LogEntry): Told {
  const reason = reasonOf(entry);
  const seconds = Number(entry.delayInSeconds ?? 0);
  const againAt = new Date(Date.parse(entry.timestamp) + seconds * 1000).toISOString();
  if (waitsBeforeCall.test(reason)) return { step: "waits", detail: `${reason}: ${seconds} s`, againAt };
  return { ...failure("provider", `${reason}, waits ${seconds} s`), againAt, isCall: true };
}

/** One line covers all changes of an invocation. */
function relayed(entry: LogEntry, type: string | undefined, { subscribers }: StepContext): readonly Told[] {
  const ids = Array.isArray(entry.correlationIds) ? entry.correlationIds.length : 1;
  const [messages, tasks] = [Number(entry.messages ?? 0), Number(entry.tasks ?? 0)];
  const among = ids > 1 ? ` for ${ids} events` : "";
  const calls: readonly Told[] =
    tasks > 0 ? [{ step: "relayed", detail: `${counted(tasks, "task")}${among}` }] : [];
  if (messages === 0) return calls;
  const takers = subscribers.filter((each) => type === undefined || mayTake(each, type));
  const sent = takers.map(
    (subscriber): Told => ({
      step: "sent",
      // The log line has the messages to all subscribers of the batch.
      detail: `to ${subscriber.name}, ${subscriber.types === undefined ? "" : "at most "}${counted(messages, "message")}${among}`,
    }),
  );
  return [...calls, ...sent];
}

/** The event's own message, or the message about the document that it led to. */
export function mayTake(subscriber: Subscriber, type: string): boolean {
  return wants(subscriber, type) || wants(subscriber, "data.updated");
}

function failure(step: string, detail: string): Told {
  return { step, detail, isFailure: true };
}

function reasonOf({ reason }: LogEntry): string {
  return typeof reason === "string" ? reason : "no reason given";
}

function taskOf({ task }: LogEntry): string {
  return typeof task === "string" ? taskName(task) : "";
}

/** What a log line lists for an event, beside its id. */
function listedIn(entries: readonly LogEntry[], id: string, name: "types" | "webhooks"): string | undefined {
  for (const { correlationIds, [name]: listed } of entries) {
    if (!Array.isArray(correlationIds) || !Array.isArray(listed)) continue;
    const text: unknown = listed[correlationIds.indexOf(id)];
    if (typeof text === "string") return text;
  }
  return undefined;
}

/** The id of the event's webhook, if it differs from the event's. */
export function webhookOf(entries: readonly LogEntry[], id: string): string | undefined {
  const webhook = listedIn(entries, id, "webhooks");
  return webhook === id ? undefined : webhook;
}
