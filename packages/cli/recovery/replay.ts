import { randomBytes } from "node:crypto";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import type { Send } from "../../../adapters/sqs/sqs-sender.ts";
import type { StoredChange, StoredChanges } from "../../../adapters/streams/stored-changes.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { present } from "../../../domain/core/parse.ts";
import { answerTypes, eventTypes, readinessTypes } from "../../../domain/event/events.ts";
import { jsonText } from "../../../domain/event/json.ts";
import { userOf } from "../../../domain/message/consequences.ts";
import { addressedTo } from "../../../domain/message/document-reference.ts";
import {
  type MessageOrigin,
  type Subscriber,
  wants,
  withAttributes,
} from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import {
  isSelected,
  latestEventOf,
  type ReplayedMessage,
  type ReplaySelection,
  replayEvent,
  replayRecord,
  replayStateEvent,
} from "../../../domain/state/replay.ts";
import { CommandError } from "../core/command-error.ts";
import {
  countFlag,
  periodFlags,
  type SubjectFlags,
  subjectFlag,
  type TextFlags,
  typesFlag,
} from "../core/flags.ts";
import { commandLine } from "../core/text.ts";
import { type KnownRecords, knownRecords, stateOf } from "../records/known-records.ts";
import { type SubscriberQueue, subscriberNamed } from "../status/work-queues.ts";

export type ReplayPorts = {
  readonly stored: StoredChanges;
  readonly records: KnownRecords;
  readonly deliver: Deliver;
  /** @returns undefined if another process has taken over the replay */
  readonly save: (run: ReplayRun) => Promise<ReplayRun | undefined>;
  /** Asked after each step; a paused replay resumes like an interrupted one. */
  readonly isPaused?: () => boolean;
  readonly origin: MessageOrigin;
  /** Called after each page with the number of items read and messages found. */
  readonly onPage: (examined: number, messages: number) => void;
};

export type Replayed = {
  readonly run: ReplayRun;
  readonly unreadable: readonly Key[];
  readonly isPaused?: true;
};

/** Items that are read, sent and recorded together; at most these are sent again after a kill. */
const stepSize = 10;

/** Sends the selected messages again, from the last recorded step to the end. */
export async function replay(
  start: ReplayRun,
  subscribers: readonly SubscriberQueue[],
  ports: ReplayPorts,
): Promise<Replayed> {
  let run = start;
  const unreadable: Key[] = [];
  const { subject } = run;
  const pages = subject === undefined ? ports.stored.all(run.after) : ports.stored.of(subject, run.after);
  for await (const page of pages) {
    for (const batch of batchesOf(page.found, { maxItems: stepSize })) {
      run = await takeStep(run, batch, subscribers, ports);
      if (ports.isPaused?.() === true) return { run, unreadable, isPaused: true };
    }
    unreadable.push(...page.unreadable);
    run = { ...run, counts: { ...run.counts, examined: run.counts.examined + page.examined } };
    ports.onPage(run.counts.examined, run.counts.messages);
  }
  return { run, unreadable };
}

async function takeStep(
  run: ReplayRun,
  items: readonly StoredChange[],
  subscribers: readonly SubscriberQueue[],
  ports: ReplayPorts,
): Promise<ReplayRun> {
  // Read just before sending, so that nothing about an erased subject is sent.
  const records = knownRecords(ports.records);
  const found = await Promise.all(
    items.map(async ({ change }) => {
      const replayed = await replayChange(change, run, records, ports);
      return replayed === "pending" ? replayed : replayedWithAttributes(change, replayed, records);
    }),
  );
  const messages = found.flatMap((each) => (each === "pending" ? [] : each.map(({ message }) => message)));
  const replayed = messages.map((message) => ({ ...message, replayid: run.id }));
  const sent: Record<string, number> = { ...run.counts.sent };
  for (const subscriber of subscribers) {
    const wanted = replayed.filter(({ type }) => run.allTypes || wants(subscriber, type));
    await ports.deliver(subscriber, wanted);
    sent[subscriber.name] = (sent[subscriber.name] ?? 0) + wanted.length;
  }
  const after = items.at(-1)?.key;
  const saved = await ports.save({
    ...run,
    ...(after && { after }),
    counts: {
      ...run.counts,
      messages: run.counts.messages + messages.length,
      pending: run.counts.pending + found.filter((each) => each === "pending").length,
      sent,
    },
  });
  if (saved !== undefined) return saved;
  throw CommandError.failed(
    `Another process runs the replay ${run.id}. This process ended. If the other was interrupted: ${resumeCommand(run.id)}`,
  );
}

/** The messages that a stored item sends again; `pending` if its message is still to be sent. */
async function replayChange(
  change: StoredChange["change"],
  { selection }: ReplayRun,
  records: KnownRecords,
  { origin, stored }: ReplayPorts,
): Promise<readonly ReplayedMessage[] | "pending"> {
  const isWanted = ({ message, timestamp }: ReplayedMessage) =>
    isSelected(selection, { type: message.type, timestamp });
  if (change.type === "event") {
    const { event } = change;
    if (!isSelected(selection, { type: event.type, timestamp: event.receivedAt })) return [];
    const replayed = replayEvent(change, await stateOf(event, records), origin.source);
    return replayed === undefined ? "pending" : [replayed];
  }
  const own = replayRecord(change, origin).filter(isWanted);
  const event = change.type === "state" ? latestEventOf(change.after) : undefined;
  if (change.type !== "state" || event === undefined) return own;
  // The event's item has the time until it expires; afterwards the subject's record has only the latest one.
  if (!isSelected(selection, { type: event.type, timestamp: event.receivedAt })) return own;
  if (await stored.has(event)) return own;
  const replayed = replayStateEvent(event, change.after, origin.source);
  return replayed === undefined ? own : [...own, replayed];
}

/** Adds the user's current attributes, as `attributesSequence` tells. */
async function replayedWithAttributes(
  change: StoredChange["change"],
  replayed: readonly ReplayedMessage[],
  { loadState }: KnownRecords,
): Promise<readonly ReplayedMessage[]> {
  const user = replayed.length === 0 ? undefined : await userOf(change, loadState);
  if (user === undefined) return replayed;
  return replayed.map(({ message, timestamp }) => ({ message: withAttributes(message, user), timestamp }));
}

/** Waits until `count` more may be sent. */
export type Pace = (count: number) => Promise<void>;

/** Admits `perSecond` evenly; unused capacity does not accumulate. @param now milliseconds since 1970 */
export function pace(
  perSecond: number,
  now: () => number,
  sleep: (milliseconds: number) => Promise<void>,
): Pace {
  let freeAt = now();
  return async (count) => {
    const wait = freeAt - now();
    if (wait > 0) await sleep(wait);
    freeAt = Math.max(freeAt, now()) + (count / perSecond) * 1000;
  };
}

/** Sends messages to one subscriber. @throws CommandError if they can't be sent */
export type Deliver = (subscriber: SubscriberQueue, messages: readonly Message[]) => Promise<void>;

/** The maximum of one request. */
const batchSize = 10;
const maxAttempts = 3;

export function replayDelivery(
  send: Send,
  pace: Pace,
  sleep: (milliseconds: number) => Promise<void>,
): Deliver {
  const deliver = async (
    subscriber: SubscriberQueue,
    messages: readonly Message[],
    tries: number,
  ): Promise<void> => {
    await pace(messages.length);
    const results = await send(
      subscriber.queueUrl,
      messages.map((message) => ({ body: jsonText(addressedTo(message, subscriber.name)) })),
    );
    const failed = messages.filter((_, index) => results[index] !== undefined);
    if (failed.length === 0) return;
    if (tries === maxAttempts) {
      const reason = results.find((failure) => failure !== undefined)?.reason;
      throw CommandError.failed(
        `The queue of ${subscriber.name} refuses messages: ${reason}. Check it: npx income-events status --section subscribers`,
      );
    }
    await sleep(500 * 2 ** tries);
    await deliver(subscriber, failed, tries + 1);
  };
  return async (subscriber, messages) => {
    for (const batch of batchesOf(messages, { maxItems: batchSize })) await deliver(subscriber, batch, 1);
  };
}

export type ReplayFlags = SubjectFlags &
  TextFlags<"subscriber" | "type" | "since" | "until" | "rate"> & {
    readonly allSubscribers?: boolean;
    readonly allTypes?: boolean;
  };

/** Messages a second; slow enough to leave readers time for new messages. */
const defaultRate = 50;

/**
 * A new replay from the flags of the command line. It ends now, since the pipeline sends later changes
 * itself.
 * @param all of the stage's subscribers
 * @throws CommandError naming the flag
 */
export function planReplay(flags: ReplayFlags, all: readonly Subscriber[], now: Date): ReplayRun {
  const { type, allTypes = false } = flags;
  const selected = typesFlag(type, [...eventTypes, ...answerTypes, ...readinessTypes]);
  const { since, until = now.toISOString() } = periodFlags(flags, now);
  const selection = present<ReplaySelection>({ type, since, until });
  const subject = subjectFlag(flags);
  const chosen = receivers(flags, all);
  const names = chosen.map(({ name }) => name);
  if (!allTypes && !chosen.some((one) => selected.some((each) => wants(one, each))))
    throw CommandError.usage(
      `--type ${type}: the filter of ${names.join(", ")} leaves it out. Add --all-types to send it anyway.`,
    );
  return {
    id: newReplayId(now),
    version: 0,
    selection,
    ...(subject && { subject }),
    subscribers: names,
    allTypes,
    rate: flags.rate === undefined ? defaultRate : countFlag("--rate", flags.rate),
    counts: { examined: 0, messages: 0, pending: 0, sent: {} },
  };
}

/** The flags of a new replay that select messages and subscribers. */
const selecting = [
  ...(["subscriber", "allSubscribers", "user", "account", "companyAccount"] as const),
  ...(["type", "since", "until", "allTypes"] as const),
];

/** Resumes an interrupted replay; only its rate can change. @throws CommandError naming the flag */
export function resumeReplay(known: ReplayRun, flags: ReplayFlags, names: readonly string[]): ReplayRun {
  const { rate } = flags;
  const given = selecting.find((name) => flags[name] !== undefined);
  if (given !== undefined) {
    const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw CommandError.usage(`--resume continues the earlier selection: leave out --${flag}.`);
  }
  const gone = known.subscribers.find((name) => !names.includes(name));
  if (gone !== undefined)
    throw CommandError.usage(`The stage has no subscriber ${gone} any more. Start another replay.`);
  return rate === undefined ? known : { ...known, rate: countFlag("--rate", rate) };
}

function receivers(
  { subscriber, allSubscribers = false }: ReplayFlags,
  all: readonly Subscriber[],
): readonly Subscriber[] {
  if (subscriber !== undefined && allSubscribers)
    throw CommandError.usage("--subscriber and --all-subscribers exclude each other: give one.");
  if (subscriber !== undefined) return [subscriberNamed(all, subscriber)];
  const names = all.map(({ name }) => name).join(", ") || "none";
  if (!allSubscribers)
    throw CommandError.usage(`Choose --subscriber NAME or --all-subscribers. The stage has: ${names}.`);
  if (all.length > 0) return all;
  throw CommandError.usage("The stage has no subscribers.");
}

export function resumeCommand(id: string): string {
  return commandLine`npx income-events replay --resume ${id}`;
}

/** Readable: its start time and four letters. */
function newReplayId(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(":", "").toLowerCase()}-${randomBytes(3).toString("hex")}`;
}
