import type { Command } from "commander";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { bodyText, type OverflowBucket, overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { type SubjectFlags, subjectFlag } from "../core/flags.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { shownJson } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { commandLine, oneLine, printableJson } from "../core/text.ts";
import { checkEventId, findEvent, lookupPorts, noSuchEvent, recordsOf } from "../events/event-lookup.ts";
import { followTable, happeningLine, happeningOf } from "../events/event-tail.ts";
import {
  deadLettersOfEvent,
  deadLettersOfUnstored,
  documentOfEvent,
  type EventDocument,
  eventTimeline,
  type Step,
} from "../events/event-timeline.ts";
import { shownAttributes } from "../records/record-view.ts";
import { subscriberQueues } from "../status/work-queues.ts";

type Flags = SubjectFlags & { readonly reveal?: boolean };

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "show <id>",
    summary:
      "Shows a stored event by its id or a prefix of it: timeline, and body, masked. Without its user or account it may read the whole table, and asks first if that costs money.",
    asks: true,
    examples: [
      "npx income-events events show Yk3wq0Zt --account 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      "npx income-events events show Yk3wq0Zt --account 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed --reveal    with the unmasked body",
    ],
    run: showEvent,
  })
    .option("--user <id>", "the event's user, or the user of its account")
    .option("--account <id>", "the event's account")
    .option("--company-account <id>", "the event's company account")
    .option("--reveal", "show the body unmasked, with personal data")
    // One id in 64 begins with "-". An invalid option is still refused, as an extra argument or an invalid
    // id.
    .allowUnknownOption();
  addTail(group);
}

export async function showEvent(
  operation: Operation,
  { reveal = false, ...flags }: Flags,
  id = "",
): Promise<void> {
  checkEventId(id);
  const subject = subjectFlag(flags);
  const { deployment, clients, terminal } = operation;
  const table = deployment.output("TableName");
  const ports = lookupPorts(operation, subject === undefined ? await agreeToScan(operation) : undefined);
  const stored = await findEvent(id, subject, ports);
  if (stored === undefined) return showUnstored(operation, id, subject);
  const { event, receipts } = stored;
  const [details, records, deadLetters] = await Promise.all([
    ports.stored.detailsOf(event),
    recordsOf(subjectOf(event), ports.records),
    deadLettersOfEvent(event, operation),
  ]);
  const versions = documentVersions(clients.dynamodb, table, () => new Date());
  const document = await documentOfEvent(event, records.documents, versions);
  const timeline = eventTimeline(stored, details, records, {
    subscribers: subscriberQueues(deployment),
    deadLetters,
  });
  const overflow = overflowBucket(deployment.output("OverflowBucketName"), clients.s3);
  const shown = async () => details && (await shownBody(event, details.body, overflow, reveal));
  const act = { act: "reveal", target: `event ${event.type}`, subject: subjectOf(event) } as const;
  const body = reveal
    ? await audited(operation, act, shown, (known) => (known === undefined ? 0 : 1))
    : await shown();
  terminal.result(
    {
      stage: deployment.stage,
      event: shownEvent(event, reveal),
      subject: subjectOf(event),
      receipts: receipts.count,
      timeline,
      ...present({ document }),
      body,
    },
    textOf({ event, timeline, document, body, reveal }),
  );
}

/** Shows an event that could not be stored. Its subject is unknown. */
async function showUnstored(operation: Operation, id: string, subject: Subject | undefined): Promise<void> {
  const deadLetters = await deadLettersOfUnstored(id, operation);
  if (deadLetters.length === 0) throw noSuchEvent(id, subject);
  const rows = deadLetters.map(({ queue, sentAt, reason, id: whole }) => [queue, sentAt, reason, whole]);
  operation.terminal.result(
    { stage: operation.deployment.stage, event: null, deadLetters },
    `Not stored. It is among the dead letters, which npx income-events dlq show QUEUE shows:\n\n${tableText(["QUEUE", "SENT", "REASON", "ID"], rows)}`,
  );
}

async function shownBody(
  { userId, accountId, companyAccountId, datasourceId, endpoint, eventId }: IncomeEvent,
  body: Body,
  overflow: OverflowBucket,
  reveal: boolean,
): Promise<unknown> {
  // Contains only ids and states that the pipeline wrote.
  if (body.type === "facts") return body.facts;
  // The body was removed because it named an erased subject.
  if (body.type === "object" && (await overflow.find(body.key)) === undefined) return undefined;
  const ids = [userId, accountId, companyAccountId, datasourceId, endpoint, eventId];
  return shownJson(await bodyText(body, overflow), { reveal, ids, isMessage: true });
}

/** An event with its attributes, masked unless `reveal`. */
export function shownEvent(event: IncomeEvent, reveal: boolean): IncomeEvent {
  const { attributes } = event;
  return attributes === undefined ? event : { ...event, attributes: shownAttributes(attributes, reveal) };
}

type Shown = {
  readonly event: IncomeEvent;
  readonly timeline: readonly Step[];
  readonly document: EventDocument | undefined;
  readonly body: unknown;
  readonly reveal: boolean;
};

function textOf({ event, timeline, document, body, reveal }: Shown): string {
  const steps = timeline.map(({ step, done, detail }) => [
    step,
    done === undefined ? "?" : done ? "yes" : "no",
    detail,
  ]);
  return [
    oneLine(`${event.type} of ${nameOf(subjectOf(event))}`),
    `id ${event.id}`,
    "",
    tableText(["STEP", "DONE", "DETAIL"], steps),
    "",
    ...(document === undefined ? [] : [documentLine(document), ""]),
    ...(body === undefined
      ? ["The body has expired."]
      : [reveal ? "Body:" : "Body, masked (--reveal shows it):", printableJson(body, 2)]),
  ].join("\n");
}

function documentLine({ subject, endpoint, dates, version, isOfEvent }: EventDocument): string {
  const flags = [...(dates === undefined ? [] : ["--dates", dates]), "--of-version", version];
  const line = commandLine`npx income-events documents get ${[subject.kind, subject.id, endpoint, ...flags]}`;
  return oneLine(`${isOfEvent ? "Show its document" : "Show the current document"}: ${line}`);
}

function addTail(group: Command): void {
  addCommand(group, {
    name: "tail",
    summary:
      "Follows events until Ctrl-C: received, applied, data fetched. It reads the table's stream beside the relay; run only one at a time, because a third reader slows all of them down.",
    examples: [
      "npx income-events events tail",
      "npx income-events events tail --json | jq 'select(.type == \"account.connected\")'",
    ],
    run: tail,
  });
}

async function tail(operation: Operation): Promise<void> {
  const { deployment, terminal } = operation;
  for await (const record of followTable(operation, `the stage ${deployment.stage}`)) {
    const happening = happeningOf(record, new Date());
    if (happening !== undefined) terminal.result(happening, happeningLine(happening));
  }
}
