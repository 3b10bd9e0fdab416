import { webhookKinds } from "../../../domain/event/events.ts";
import { type AnnouncedDocuments, announcedDocuments } from "./announced-documents.ts";
import { attempt, type Check } from "./checks.ts";
import { checkDeadLetters } from "./dead-letters.ts";
import { checkDelivered } from "./delivered.ts";
import { checkDocuments, type DocumentCounts } from "./documents.ts";
import { checkRefusals, sendEvents, sendUnreadable } from "./edge.ts";
import { type PlannedEvent, planEvents } from "./plan.ts";
import { checkStored } from "./stored.ts";
import type { Target } from "./target.ts";
import { webhookSender } from "./webhook-sender.ts";

export type RunSettings = {
  readonly mark: string;
  readonly atOnce: number;
  /** How long each step may wait for what it looks for. */
  readonly deadlineSeconds: number;
};

/** What a run found, as `--json` writes it. */
export type Report = DocumentCounts & {
  readonly stage: string;
  readonly run: string;
  readonly passed: boolean;
  readonly checks: readonly Check[];
  readonly webhooks: { readonly sent: number; readonly atOnce: number };
  readonly subscribers: { readonly read: readonly string[]; readonly left: readonly string[] };
};

export type Reporter = { readonly step: (text: string) => void; readonly check: (check: Check) => void };

/** Drives a deployed stage from webhook to subscriber, and looks at it from outside only. */
export async function runSmoke(target: Target, settings: RunSettings, reporter: Reporter): Promise<Report> {
  const { stage, subscribers, webhooksUrl } = target;
  const { mark, atOnce, deadlineSeconds } = settings;
  const checks: Check[] = [];
  const add = (some: readonly Check[]) => {
    checks.push(...some);
    for (const each of some) reporter.check(each);
  };
  const events = planEvents(mark);
  const announced = announcedDocuments();
  const sender = webhookSender(target, atOnce);
  reporter.step(`Sending webhooks to ${webhooksUrl}`);
  add(await checkRefusals(sender));
  const { sent, checks: taken } = await sendEvents(events, sender);
  add(taken);
  add(await sendUnreadable(mark, sender));
  reporter.step("Looking for the events in the table");
  add(await checkStored(sent, target.stored, deadlineSeconds));
  if (sent.some(({ accepted }) => accepted > 0)) {
    reporter.step("Looking for the messages and the dead letters in their queues");
    add(await checkQueues(target, events, settings, announced));
  } else reporter.step("Nothing was taken: nothing is looked for in the queues");
  reporter.step("Reading the documents that messages announced");
  const { check, counts } = await checkDocuments(announced, { ...target, seconds: deadlineSeconds });
  add([check]);
  return {
    stage,
    run: mark,
    passed: checks.every(({ passed }) => passed),
    checks,
    ...counts,
    webhooks: sender.counts(),
    subscribers: { read: subscribers.read.map(({ name }) => name), left: subscribers.left },
  };
}

async function checkQueues(
  { subscribers, sqs, deadLetterQueueUrl }: Target,
  events: readonly PlannedEvent[],
  { mark, deadlineSeconds }: RunSettings,
  announced: AnnouncedDocuments,
): Promise<readonly Check[]> {
  const checks = await Promise.all([
    ...subscribers.read.map((subscriber) =>
      attempt(`subscriber ${subscriber.name}: its queue can be read`, () =>
        checkDelivered(subscriber, events, mark, { sqs, seconds: deadlineSeconds, announced }),
      ),
    ),
    ...webhookKinds.map((kind) =>
      attempt(`${kind}: its dead letters can be read`, () => {
        const ofKind = events.filter((event) => event.kind === kind);
        const queue = { sqs, queueUrl: deadLetterQueueUrl(kind) };
        return checkDeadLetters(kind, ofKind, mark, { ...queue, seconds: deadlineSeconds });
      }),
    ),
  ]);
  return checks.flat();
}
