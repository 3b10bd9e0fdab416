import type { SQSClient } from "@aws-sdk/client-sqs";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { type FoundMessage, searchQueue } from "../../../adapters/sqs/queue-messages.ts";
import { type Fields, isFields, jsonIn } from "../../../domain/core/parse.ts";
import { identify } from "../../../domain/event/envelope.ts";
import { type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { type Subscriber, wants } from "../../../domain/message/message.ts";
import { type Message, messageSchema, messageTypes } from "../../../domain/message/message-schemas.ts";
import { CommandError } from "../core/command-error.ts";
import { subscriberNamed } from "../status/work-queues.ts";
import { type Check, checkEach, newMark, type PlannedEvent, planEvents, unmappableBody } from "./plan.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false });
formats.default(ajv);
const validators = new Map<unknown, ValidateFunction<Message>>(
  messageTypes.map((type) => [type, ajv.compile<Message>(messageSchema(type))]),
);

type Received = Message | { readonly problem: string };

/**
 * Validates a message against the published schemas with a standard validator.
 * @returns the message, or a problem that names the field without its value
 */
export function readPromised(text: string): Received {
  const value = fieldsIn(text);
  if (value === undefined) return { problem: "the message is no JSON object" };
  const validate = validators.get(value.type);
  if (validate === undefined) return { problem: `${value.type} is no type of a message` };
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  return { problem: `${error?.instancePath.slice(1).replaceAll("/", ".")}: ${error?.message}` };
}

function fieldsIn(text: string): Fields | undefined {
  const value = jsonIn(text);
  return isFields(value) ? value : undefined;
}

/** A subscriber for this command, whose messages no other program needs. */
const ownSubscriber = "smoke";

type SubscriberQueue = Subscriber & { readonly queueUrl: string };
type ReadQueue = SubscriberQueue & { readonly others: "release" | "delete" };

export type SubscriberChoice = {
  readonly read: readonly ReadQueue[];
  /** Names of queues that receive the run's messages and are not read. */
  readonly left: readonly string[];
};

/**
 * Chooses the queues to read, because a received message is invisible to its reader for a while.
 * @param names the subscribers whose queues may be read; if empty, the one named `smoke`
 * @param nobodyReads whether all may be read if there is neither
 * @throws CommandError if there is none, or if none receives the run's events
 */
export function chooseSubscribers(
  all: readonly SubscriberQueue[],
  names: readonly string[],
  nobodyReads: boolean,
): SubscriberChoice {
  const known = all.map(({ name }) => name);
  for (const name of names) subscriberNamed(all, name);
  const defaults = nobodyReads && !known.includes(ownSubscriber) ? known : [ownSubscriber];
  const wanted = names.length > 0 ? names : defaults;
  const read = all
    .filter(({ name }) => wanted.includes(name))
    .map((each) => ({ ...each, others: each.name === ownSubscriber ? "delete" : "release" }) as const);
  if (read.length === 0) throw CommandError.usage(howToHaveOne(known));
  const types = [...new Set(planEvents(newMark()).map(({ type }) => type))];
  if (read.some((subscriber) => types.some((type) => wants(subscriber, type))))
    return { read, left: known.filter((name) => !wanted.includes(name)) };
  const reported = `${read.map(({ name }) => name).join(", ")}: no filter takes any of ${types.join(", ")}`;
  throw CommandError.usage(`${reported}. Name another one with --subscriber.`);
}

function howToHaveOne(known: readonly string[]): string {
  const others =
    "\nOr choose a queue to read: its other messages become invisible to its readers meanwhile, and count as\n" +
    `received once. ${known.map((name) => `--subscriber ${name}`).join(" ")}`;
  return (
    `No subscriber is named ${ownSubscriber}. Add one to the stage's settings and deploy:\n` +
    `  "subscribers": [{ "name": "${ownSubscriber}", "retentionDays": 1 }, …]${known.length === 0 ? "" : others}`
  );
}

type Search = { readonly sqs: SQSClient; readonly seconds: number };

/**
 * Checks that a subscriber receives the message of each event that matches its filter, and no other of the
 * run.
 * @param onOther called with messages that are not of the run
 */
export async function checkDelivered(
  subscriber: ReadQueue,
  events: readonly PlannedEvent[],
  mark: string,
  { sqs, seconds, onOther }: Search & { readonly onOther: (body: string) => void },
): Promise<readonly Check[]> {
  const { name, queueUrl, others } = subscriber;
  const wanted = events.filter(({ type }) => wants(subscriber, type));
  const read = ({ body }: FoundMessage) => readPromised(body);
  const { found } = await searchQueue(sqs, {
    ...{ queueUrl, others, onOther, seconds },
    isWanted: (body) => body.includes(mark),
    isComplete: (soFar) => {
      const subjects = soFar.map(read).map((each) => ("problem" in each ? undefined : each.subject));
      return wanted.every(({ subject }) => subjects.includes(subject));
    },
  });
  const received = found.map(read);
  const ofKinds = webhookKinds.flatMap((kind) => {
    const ofKind = wanted.filter((event) => event.kind === kind);
    if (ofKind.length === 0) return [];
    const check = `subscriber ${name}: gets each event of ${kind} as a CloudEvent, under one id`;
    const problems = ofKind.flatMap((event) => problemOf(event, received));
    return [checkEach(check, ofKind.length, problems)];
  });
  const strangers = received.flatMap((each) => {
    if ("problem" in each) return [`no message of the contract: ${each.problem}`];
    return wanted.some((event) => isOf(each, event)) ? [] : [`${each.type} of ${each.subject}`];
  });
  return [...ofKinds, checkNone(`subscriber ${name}: gets no other message of the run`, strangers)];
}

function problemOf(event: PlannedEvent, received: readonly Received[]): readonly string[] {
  const ids = received.flatMap((each) => (isOf(each, event) && "id" in each ? [each.id] : []));
  const count = new Set(ids).size;
  if (count === 1) return [];
  return [count === 0 ? `no ${event.type} of ${event.subject}` : `${event.subject} has ${count} ids`];
}

function isOf(received: Received, { subject, type }: PlannedEvent): boolean {
  return !("problem" in received) && received.subject === subject && received.type === type;
}

/**
 * Checks that this run's only dead letter of a kind is the invalid body, with its reason, and deletes it.
 * Other dead letters stay.
 */
export async function checkDeadLetters(
  kind: WebhookKind,
  events: readonly PlannedEvent[],
  mark: string,
  { sqs, queueUrl, seconds }: Search & { readonly queueUrl: string },
): Promise<readonly Check[]> {
  const idOf = (body: string) => identify(kind, Buffer.from(body));
  const unmappable = idOf(unmappableBody(mark));
  const own = new Map<unknown, string>(events.map(({ body, subject }) => [idOf(body), subject]));
  const { found } = await searchQueue(sqs, {
    ...{ queueUrl, seconds, others: "release" },
    isWanted: (body) => idIn(body) === unmappable || own.has(idIn(body)),
    isComplete: (soFar) => soFar.some(({ body }) => idIn(body) === unmappable),
  });
  const letters = found.map(({ body, reason = "no reason" }) => ({ id: idIn(body), reason }));
  const reasons = letters.flatMap(({ id, reason }) => (id === unmappable ? [reason] : []));
  const wrong = letters.flatMap(({ id, reason }) => (own.has(id) ? [`${own.get(id)}: ${reason}`] : []));
  return [
    {
      name: `${kind}: puts what names no event among its dead letters, with the reason`,
      passed: reasons.length > 0 && reasons.every((reason) => reason.startsWith("type: ")),
      seen: reasons.join("; ") || `none after ${seconds} s`,
    },
    checkNone(`${kind}: puts no event among its dead letters`, wrong),
  ];
}

function checkNone(name: string, found: readonly string[]): Check {
  return { name, passed: found.length === 0, seen: found.join("; ") || "none" };
}

/** A dead letter is the received message's envelope; the id is the body's. */
function idIn(envelope: string): unknown {
  return fieldsIn(envelope)?.id;
}
