import type { SQSClient } from "@aws-sdk/client-sqs";
import { type FoundMessage, searchQueue } from "../../../adapters/sqs/queue-search.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { wants } from "../../../domain/message/subscribers.ts";
import type { AnnouncedDocuments } from "./announced-documents.ts";
import { type Check, checkOf } from "./checks.ts";
import { readPromised } from "./contract.ts";
import type { PlannedEvent } from "./plan.ts";
import type { SubscriberChoice } from "./subscribers.ts";

type ReadSubscriber = SubscriberChoice["read"][number];
type Received = ReturnType<typeof readPromised>;

/**
 * Checks that a subscriber gets the message of each event that its filter takes, and no other of the run.
 * @param announced is called with the messages beside those of the run
 */
export async function checkDelivered(
  subscriber: ReadSubscriber,
  events: readonly PlannedEvent[],
  mark: string,
  {
    sqs,
    seconds,
    announced,
  }: {
    readonly sqs: SQSClient;
    readonly seconds: number;
    readonly announced: Pick<AnnouncedDocuments, "add">;
  },
): Promise<readonly Check[]> {
  const { name, queueUrl, others } = subscriber;
  const wanted = events.filter(({ type }) => wants(subscriber, type));
  const { found } = await searchQueue(sqs, {
    queueUrl,
    isWanted: (body) => body.includes(mark),
    isComplete: (soFar) => {
      const subjects = new Set(soFar.map(read).flatMap((each) => ("problem" in each ? [] : [each.subject])));
      return wanted.every(({ subject }) => subjects.has(subject));
    },
    others,
    onOther: announced.add,
    seconds,
  });
  const received = found.map(read);
  const ofKinds = webhookKinds.flatMap((kind) => {
    const ofKind = wanted.filter((event) => event.kind === kind);
    if (ofKind.length === 0) return [];
    const problems = ofKind.flatMap((event) => problemOf(event, received));
    const seen = `${ofKind.length - problems.length} of ${ofKind.length}`;
    const check = `subscriber ${name}: gets each event of ${kind} as a CloudEvent, under one id`;
    return [{ name: check, passed: problems.length === 0, seen: [seen, ...problems].join("; ") }];
  });
  const strangers = received.flatMap((each) => strangerOf(each, wanted));
  return [...ofKinds, checkOf(`subscriber ${name}: gets no other message of the run`, strangers, "none")];
}

const read = ({ body }: FoundMessage): Received => readPromised(body);

function problemOf({ subject, type }: PlannedEvent, received: readonly Received[]): readonly string[] {
  const ids = received.flatMap((each) =>
    "problem" in each || each.subject !== subject || each.type !== type ? [] : [each.id],
  );
  const count = new Set(ids).size;
  if (count === 1) return [];
  return [count === 0 ? `no ${type} of ${subject}` : `${subject} has ${count} ids`];
}

function strangerOf(received: Received, wanted: readonly PlannedEvent[]): readonly string[] {
  if ("problem" in received) return [`no message of the contract: ${received.problem}`];
  const { subject, type } = received;
  const isWanted = wanted.some((event) => event.subject === subject && event.type === type);
  return isWanted ? [] : [`${type} of ${subject}`];
}
