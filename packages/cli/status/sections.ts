import type { Registration } from "../../../domain/reconcile/registrations.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { tableText } from "../core/table.ts";
import { fromNow } from "../core/text.ts";
import { historyText, providerHistory } from "../provider/provider-history.ts";
import { providerStatus, providerText } from "../provider/provider-status.ts";
import { listRegistrations } from "../provider/registration.ts";
import { pipelineAlarms } from "./stage-status.ts";
import {
  ageText,
  alarmText,
  differenceText,
  lastSentText,
  queuesText,
  readerText,
  refusalText,
} from "./status-text.ts";
import { type TokenStatus, tokenStatus } from "./token-status.ts";
import { queueStatuses, subscriberQueues, workQueues } from "./work-queues.ts";

/** Sections that `status` can show alone, in more detail. */
export const sections = ["queues", "token", "webhooks", "subscribers", "provider", "alarms"] as const;
export type Section = (typeof sections)[number];

/** For programs, and for people. */
type Shown = readonly [data: object, text: string];

/** @param since adds the history since then; only for the section `provider` */
export async function sectionStatus(
  section: Section,
  place: Place,
  since: string | undefined,
): Promise<Shown> {
  const [data, text] = await showSection(section, place, since);
  return [{ stage: place.deployment.stage, ...data }, text];
}

async function showSection(section: Section, place: Place, since: string | undefined): Promise<Shown> {
  const { deployment, clients } = place;
  const now = new Date();
  switch (section) {
    case "queues": {
      const queues = await queueStatuses(workQueues(deployment), clients, () => now);
      return [{ queues }, queuesText(queues, now)];
    }
    case "token": {
      const token = await tokenStatus(place);
      return [token, tokenTable(deployment.stage, token, now)];
    }
    case "webhooks": {
      const webhooks = await listRegistrations(place);
      const rows = webhooks.map((webhook) => [webhook.kind, ...whereOf(webhook)]);
      return [{ webhooks }, tableText(["kind", "registered", "address"], rows)];
    }
    case "subscribers":
      return subscribersStatus(place, now);
    case "provider": {
      const status = await providerStatus(place, now);
      const text = providerText(deployment.stage, status, now);
      if (since === undefined) return [status, text];
      const history = await providerHistory(place, since);
      return [{ ...status, history }, `${text}\n\n${historyText(history, since)}`];
    }
    case "alarms": {
      const alarms = await pipelineAlarms(place);
      return [{ alarms }, alarmText(alarms, now)];
    }
  }
}

/** @throws CommandError if no token is set */
function tokenTable(stage: string, token: TokenStatus, now: Date): string {
  if (!token.isSet)
    throw CommandError.failed(
      `No token of the stage ${stage} is set. Set it: npx income-events token set < token.txt`,
    );
  const { issuedAt, expiresAt, storedAt, storedBy, refusal, claims } = token;
  const timestamp = (time: string | undefined) =>
    time === undefined ? "it does not say" : `${time} (${fromNow(new Date(time), now)})`;
  const by = storedBy === "refresh" ? "a refresh" : "an operator";
  return tableText(
    ["token", stage],
    [
      ["issued", timestamp(issuedAt)],
      ["ends", timestamp(expiresAt)],
      ["stored", `${timestamp(storedAt)} by ${by}`],
      ["refused", refusal === "none" ? "no" : refusalText(refusal)],
      ...Object.entries(claims ?? {}).map(([name, value]) => [`claim ${name}`, JSON.stringify(value)]),
    ],
  );
}

function whereOf(webhook: Registration): readonly string[] {
  switch (webhook.type) {
    case "here":
      return [`here${differenceText(webhook.differs)}`, webhook.deployed];
    case "elsewhere":
      return ["elsewhere", webhook.url];
    case "none":
      return ["no", `should be ${webhook.deployed}`];
    case "untold":
      return ["unknown", webhook.reason];
  }
}

const subscribersHead = [
  ...["subscriber", "gets", "waiting", "in flight", "oldest"],
  ...["dead letters", "oldest dead", "last message", "reader"],
];

async function subscribersStatus({ deployment, clients }: Place, now: Date): Promise<Shown> {
  const subscribers = subscriberQueues(deployment);
  const statuses = await queueStatuses(subscribers, clients, () => now);
  const all = subscribers.map(({ types, queueUrl, deadLetterQueueUrl }, index) => ({
    ...statuses[index],
    ...(types && { types }),
    queueUrl,
    deadLetterQueueUrl,
  }));
  const rows = statuses.map((status, index) => [
    status.name,
    subscribers[index]?.types?.join(", ") ?? "everything",
    status.waiting,
    status.inFlight,
    ageText(status.waiting + status.inFlight, status.oldestSeconds),
    status.deadLetters,
    ageText(status.deadLetters, status.oldestDeadLetterSeconds),
    lastSentText(status.lastSentAt, now),
    readerText(status),
  ]);
  return [{ subscribers: all }, tableText(subscribersHead, rows)];
}
