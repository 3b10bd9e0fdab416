import type { Command } from "commander";
import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { bodyText, type OverflowBucket, overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import { eventStates } from "../../../domain/event/event-progress.ts";
import {
  type EventType,
  eventTypes,
  type IncomeEvent,
  subjectKindOf,
  webhookKinds,
} from "../../../domain/event/events.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { audited } from "../core/audited.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import {
  choiceFlag,
  countFlag,
  periodFlags,
  type SubjectFlags,
  sinceFlag,
  subjectFlag,
  type TextFlags,
  typesFlag,
} from "../core/flags.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { shownJson } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { commandLine, oneLine, printableJson } from "../core/text.ts";
import {
  eventHistory,
  type HistoryEvent,
  type HistoryPeriod,
  historyOutcomes,
  selectHistory,
  withSubjects,
} from "../events/event-history.ts";
import { type EventQuery, type ListedEvent, listEvents } from "../events/event-list.ts";
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

type Flags = SubjectFlags &
  TextFlags<"kind" | "type" | "since" | "until" | "endpoint" | "text" | "outcome" | "state"> & {
    readonly limit: string;
  };

export function addTo(program: Command): void {
  const group = program.command("events").description("Lists, shows and follows stored events.");
  addCommand<Flags>(group, {
    name: "list",
    summary:
      "Lists events, newest first: of one user or account from the table, otherwise from the functions' logs. --state reads the whole table, and asks first if that costs money.",
    asks: true,
    subject: ["only this", " and its accounts"],
    examples: [
      "npx income-events events list --user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed    includes the user's accounts",
      "npx income-events events list --type account.* --since 7d    from the functions' logs",
      "npx income-events events list --state stored --until 15m    events without progress for 15 minutes",
    ],
    run: async (operation, flags) => {
      const { deployment, terminal } = operation;
      const query = parseQuery(flags, new Date());
      if (query.subject === undefined && query.state === undefined)
        return listHistory(operation, query, flags);
      const onScanned = query.subject === undefined ? await agreeToScan(operation) : undefined;
      const events = await listEvents(query, lookupPorts(operation, onScanned));
      terminal.result(
        { stage: deployment.stage, events: events.map(describe) },
        tableText(head, events.map(row), "No events found."),
      );
    },
  })
    .option("--kind <kind>", `only this webhook's: ${webhookKinds.join(", ")}`)
    .option("--type <type>", "only this type, or a pattern: account.*")
    .option("--endpoint <name>", "only this endpoint of the provider")
    .option("--text <text>", "only ids that contain this text")
    .option("--outcome <outcome>", `from the logs, only this outcome: ${historyOutcomes.join(", ")}`)
    .option(
      "--since <time>",
      `received since: a date, a date-time, or a time ago (90m, 24h, 7d); from the logs ${defaultSince} unless given`,
    )
    .option("--until <time>", "received before")
    .option("--state <state>", `only events in this state: ${eventStates.join(", ")}`)
    .option("--limit <count>", "maximum number", "50");
  addCommand<ShowFlags>(group, {
    name: "show <id>",
    summary:
      "Shows a stored event by its id or a prefix of it: timeline, and body, masked. Without its user or account it may read the whole table, and asks first if that costs money.",
    asks: true,
    subject: ["the event's", ", or the user of its account"],
    examples: [
      "npx income-events events show Yk3wq0Zt --account 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
      "npx income-events events show Yk3wq0Zt --account 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed --reveal    with the unmasked body",
    ],
    run: showEvent,
  })
    .option("--reveal", "show the body unmasked, with personal data")
    // One id in 64 begins with "-". An invalid option is still refused, as an extra argument or an invalid
    // id.
    .allowUnknownOption();
  addCommand(group, {
    name: "tail",
    summary:
      "Follows events until Ctrl-C: received, applied, data fetched. It reads the table's stream beside the relay; run only one at a time, because a third reader slows all of them down.",
    examples: [
      "npx income-events events tail",
      "npx income-events events tail --json | jq 'select(.type == \"account.connected\")'",
    ],
    run: async (operation) => {
      const { deployment, terminal } = operation;
      for await (const record of followTable(operation, `the stage ${deployment.stage}`)) {
        const happening = happeningOf(record, new Date());
        if (happening !== undefined) terminal.result(happening, happeningLine(happening));
      }
    },
  });
}

/** The time range to search in the logs by default. */
const defaultSince = "24h";

/** Lists events from the functions' logs; the table is read only for their subjects. */
async function listHistory(
  operation: Operation,
  { filter, limit }: EventQuery,
  { outcome, since: given = defaultSince }: Flags,
): Promise<void> {
  const { deployment, terminal } = operation;
  const { since = sinceFlag(given, new Date()) ?? "", until, ...rest } = filter;
  const period = present<HistoryPeriod>({ since, until });
  const events = await eventHistory(operation, period, ({ done, total, lines }) =>
    terminal.step(`Read ${done} of ${total} functions' logs: ${lines} lines.`),
  );
  const wanted = choiceFlag("--outcome", outcome, historyOutcomes);
  const selected = selectHistory(events, { ...rest, ...(wanted && { outcome: wanted }) });
  const listed = await withSubjects(selected.slice(0, limit), operation);
  const more = selected.length > limit ? `\n${selected.length - limit} more: see --limit.` : "";
  terminal.result(
    { stage: deployment.stage, from: "logs", since, count: selected.length, events: listed },
    `${tableText(historyHead, listed.map(historyRow), "No events found.")}${more}`,
  );
}

const historyHead = ["RECEIVED", "TYPE", "SUBJECT", "TIMES", "OUTCOME", "REASON", "ID"];

function historyRow(event: HistoryEvent): readonly (string | number | undefined)[] {
  const { at, kind, type, subject, loggedAs, endpoint, times, outcome, reason, id } = event;
  const about = [subject ?? loggedAs ?? [], endpoint ?? []].flat().join("/");
  return [at, type ?? kind, about === "" ? undefined : about, times, outcome, reason, id.slice(0, shownOfId)];
}

function parseQuery(flags: Flags, now: Date): EventQuery {
  const { type } = flags;
  const types = typesFlag(type, eventTypes);
  const filter = present<EventQuery["filter"]>({
    kind: choiceFlag("--kind", flags.kind, webhookKinds),
    type,
    ...{ endpoint: flags.endpoint, text: flags.text },
    ...periodFlags(flags, now),
  });
  choiceFlag("--outcome", flags.outcome, historyOutcomes);
  const subject = subjectFlag(flags);
  checkFilter(filter, subject, types);
  if (flags.outcome !== undefined && (subject !== undefined || flags.state !== undefined))
    throw CommandError.usage("--outcome is read from the logs: leave out --state and the ids.");
  return present<EventQuery>({
    subject,
    filter,
    state: choiceFlag("--state", flags.state, eventStates),
    limit: countFlag("--limit", flags.limit),
  });
}

/**
 * @throws CommandError for a filter that can't match anything, because an empty answer would be misleading
 */
function checkFilter(
  { kind, type }: EventQuery["filter"],
  subject: Subject | undefined,
  types: readonly EventType[],
): void {
  const selected = types.filter((one) => kind === undefined || `${subjectKindOf(one)}s` === kind);
  if (selected.length === 0)
    throw CommandError.usage(`--type ${type} never arrives as --kind ${kind}: leave one out.`);
  if (subject === undefined || selected.some((one) => eventsWith[subject.kind].includes(subjectKindOf(one))))
    return;
  const filter = type === undefined ? `--kind ${kind}` : `--type ${type}`;
  throw CommandError.usage(`${filter} is never about --${subject.kind}: leave one out.`);
}

/** The subject whose events are listed; a user's include those of its accounts. */
const eventsWith: Readonly<Record<Subject["kind"], readonly ReturnType<typeof subjectKindOf>[]>> = {
  user: ["user", "account", "endpoint", "company-account"],
  account: ["account", "endpoint"],
  "company-account": ["company-account", "endpoint"],
};

const head = ["RECEIVED", "TYPE", "SUBJECT", "TIMES", "STATE", "OUTCOME", "ID"];

/** Characters of an id that tell events apart. */
const shownOfId = 12;

function row({ event, receipts, progress }: ListedEvent): readonly (string | number | undefined)[] {
  const subject = [nameOf(subjectOf(event)), ...(event.endpoint === undefined ? [] : [event.endpoint])].join(
    "/",
  );
  const id = event.id.slice(0, shownOfId);
  return [event.receivedAt, event.type, subject, receipts.count, progress.state, progress.outcome, id];
}

function describe({ event, receipts, progress }: ListedEvent): object {
  const { attributes: _, ...shown } = event;
  return { ...shown, receipts: receipts.count, ...progress };
}

type ShowFlags = SubjectFlags & { readonly reveal?: boolean };

export async function showEvent(
  operation: Operation,
  { reveal = false, ...flags }: ShowFlags,
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
  const answer = present<ShownEvent>({
    event: maskedEvent(event, reveal),
    ...{ subject: subjectOf(event), receipts: receipts.count, timeline, document, body },
  });
  terminal.result({ stage: deployment.stage, ...answer }, textOf(answer, reveal));
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
function maskedEvent(event: IncomeEvent, reveal: boolean): IncomeEvent {
  const { attributes } = event;
  return attributes === undefined ? event : { ...event, attributes: shownAttributes(attributes, reveal) };
}

/** A stored event, for programs. */
export type ShownEvent = {
  readonly event: IncomeEvent;
  readonly subject: Subject;
  readonly receipts: number;
  readonly timeline: readonly Step[];
  readonly document?: EventDocument;
  /** Undefined if it has expired. */
  readonly body?: unknown;
};

function textOf({ event, timeline, document, body }: ShownEvent, reveal: boolean): string {
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
