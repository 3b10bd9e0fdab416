import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { type ReplayCheckpoint, replayRuns } from "../../../adapters/streams/checkpoint.ts";
import { storedChanges } from "../../../adapters/streams/stored-changes.ts";
import { messageSource } from "../../../domain/message/message-schemas.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { agreeToScan, type OnScanned } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { counted, oneLine } from "../core/text.ts";
import { checkKnown, recordsIn } from "../records/known-records.ts";
import {
  type Deliver,
  pace,
  planReplay,
  type Replayed,
  type ReplayFlags,
  replay,
  replayDelivery,
  resumeCommand,
  resumeReplay,
} from "../recovery/replay.ts";
import { subscriberQueues } from "../status/work-queues.ts";

type Flags = ReplayFlags & { readonly resume?: string; readonly dryRun?: boolean };

export function addTo(program: Command): void {
  addCommand<Flags>(program, {
    name: "replay",
    summary:
      "Sends stored events and current data to subscribers again, with the same message ids and the replay's id.",
    asks: true,
    subject: ["only this", " and its accounts"],
    examples: [
      "npx income-events replay --subscriber everything --since 7d --dry-run    only count the messages",
      "npx income-events replay --subscriber everything    everything stored, for a new subscriber",
      "npx income-events replay --subscriber everything --user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed --type data.updated",
      "npx income-events replay --all-subscribers --type account.* --since 2026-03-01 --rate 10",
      "npx income-events replay --resume 2026-03-01t120000-a1b2c3    continue an interrupted replay",
    ],
    run: (operation, flags) => runReplay(operation, flags),
  })
    .option("--subscriber <name>", "send to this subscriber")
    .option("--all-subscribers", "send to all subscribers")
    .option("--type <type>", "only this type, or a pattern: account.*")
    .option("--since <time>", "received since: a date, a date-time, or a time ago (90m, 24h, 7d)")
    .option("--until <time>", "received before; default: now")
    .option("--all-types", "ignore the subscriber's filter")
    .option("--rate <count>", "messages a second; default: 50")
    .option("--resume <replay>", "continue an interrupted replay, by its id, within seven days")
    .option("--dry-run", "only count the messages");
}

/** Follows a replay, and can pause it. A paused replay resumes like an interrupted one. */
export type ReplayControl = {
  readonly isPaused: () => boolean;
  readonly onSent: (messages: number) => void;
};

const uncontrolled: ReplayControl = { isPaused: () => false, onSent: () => undefined };

export async function runReplay(operation: Operation, flags: Flags, control = uncontrolled): Promise<void> {
  const { deployment, clients, terminal } = operation;
  const { dryRun = false } = flags;
  const replays = replayRuns(clients.dynamodb, deployment.output("TableName"), () => new Date());
  const planned = await begin(operation, flags, replays);
  const onPage = await consent(operation, planned, dryRun);
  if (dryRun) return report(operation, await send(operation, planned, { onPage, control }), dryRun);
  const { id } = planned;
  const checkpoint = replays(id);
  // Saved before anything is sent, so that it can be resumed and an earlier process of it stops.
  const started = await checkpoint.save(planned);
  if (started === undefined)
    throw CommandError.failed(
      `Another process runs the replay ${id}. If it was interrupted: ${resumeCommand(id)}`,
    );
  terminal.progress(`Replay ${id}. If it is interrupted, continue with: ${resumeCommand(id)}`);
  const replayed = await audited(
    operation,
    { act: "replay", target: started.subscribers.join(", "), subject: started.subject },
    () => send(operation, started, { checkpoint, onPage, control }),
    ({ run: { counts } }) => counts.messages,
  );
  if (replayed.isPaused === true) return reportPause(operation, replayed.run);
  await checkpoint.remove();
  report(operation, replayed, dryRun);
}

function reportPause({ deployment: { stage }, terminal }: Operation, { id, counts }: ReplayRun): void {
  const data = { stage, paused: true, replayId: id, messages: counts.messages, sent: counts.sent };
  terminal.result(
    data,
    `Paused after ${counted(counts.messages, "message")}. Resume it: ${resumeCommand(id)}`,
  );
}

async function begin(
  operation: Operation,
  flags: Flags,
  replays: (id: string) => ReplayCheckpoint,
): Promise<ReplayRun> {
  const { deployment } = operation;
  const { resume } = flags;
  const subscribers = subscriberQueues(deployment);
  if (resume === undefined) {
    const planned = planReplay(flags, subscribers, new Date());
    if (planned.subject !== undefined) await checkKnown(planned.subject, operation);
    return planned;
  }
  const known = await replays(resume).load();
  if (known !== undefined)
    return resumeReplay(
      known,
      flags,
      subscribers.map(({ name }) => name),
    );
  throw CommandError.usage(
    `No interrupted replay ${resume} found. It has completed, or is older than a week.`,
  );
}

/**
 * Shows the cost of a scan, and asks for consent if all subscribers receive the messages. @returns the
 * progress callback
 */
async function consent(
  operation: Operation,
  { subject, subscribers }: ReplayRun,
  dryRun: boolean,
): Promise<OnScanned> {
  if (subscribers.length > 1 && !dryRun) {
    await operation.terminal.confirm(
      `${subscribers.length} subscribers of the stage ${operation.deployment.stage} get messages again: ${subscribers.join(", ")}. Add --dry-run to count them first.`,
    );
  }
  return subject === undefined ? agreeToScan(operation) : () => undefined;
}

type Sending = {
  /** Undefined for a dry run. */
  readonly checkpoint?: ReplayCheckpoint;
  readonly onPage: OnScanned;
  readonly control: ReplayControl;
};

function send(
  operation: Operation,
  start: ReplayRun,
  { checkpoint, onPage, control }: Sending,
): Promise<Replayed> {
  const { deployment, clients, terminal } = operation;
  const wait = (milliseconds: number) => sleep(milliseconds);
  const none: Deliver = async () => undefined;
  const deliver = replayDelivery(sqsSender(clients.sqs), pace(start.rate, Date.now, wait), wait);
  const subscribers = subscriberQueues(deployment).filter(({ name }) => start.subscribers.includes(name));
  return replay(start, subscribers, {
    stored: storedChanges(clients.dynamodb, deployment.output("TableName")),
    records: recordsIn(operation),
    deliver: checkpoint === undefined ? none : deliver,
    save: async (step) => {
      if (checkpoint === undefined) return step;
      terminal.step(`Sent ${step.counts.messages} messages.`);
      control.onSent(step.counts.messages);
      return checkpoint.save(step);
    },
    isPaused: control.isPaused,
    origin: { source: messageSource(deployment.stage), documentsUrl: deployment.output("DocumentsUrl") },
    onPage,
  });
}

/** The report of a replay; with `dryRun`, of what it would send. @throws CommandError if items were skipped */
function report(
  { deployment: { stage }, terminal }: Operation,
  { run, unreadable }: Replayed,
  dryRun: boolean,
): void {
  const { messages, pending, sent } = run.counts;
  const lines = [
    dryRun
      ? `A replay would send up to ${counted(messages, "message")} to each subscriber, by its filter. Nothing was sent.`
      : `The replay ${run.id} is done: up to ${counted(messages, "message")} to each subscriber, by its filter.`,
    tableText(["SUBSCRIBER", "MESSAGES"], Object.entries(sent)),
    ...(pending === 0
      ? []
      : [
          `Skipped ${pending} events that are still being processed: their messages are sent when that is done.`,
        ]),
  ];
  const data = { ...(dryRun ? {} : { replayId: run.id }), messages, sent, pending, unreadable };
  terminal.result({ stage, dryRun, ...data }, lines.join("\n"));
  if (unreadable.length === 0) return;
  const names = unreadable.map(({ pk, sk }) => oneLine(`${pk} ${sk}`)).join("\n  ");
  throw CommandError.failed(
    `Skipped ${counted(unreadable.length, "item")} that this release can't read:\n  ${names}`,
  );
}
