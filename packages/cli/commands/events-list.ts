import type { Command } from "commander";
import { present } from "../../../domain/core/parse.ts";
import { eventStates } from "../../../domain/event/event-progress.ts";
import {
  type EventType,
  eventTypes,
  subjectKindOf,
  type WebhookKind,
  webhookKinds,
} from "../../../domain/event/events.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import { wants } from "../../../domain/message/message.ts";
import { addCommand, type Operation } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import {
  choiceFlag,
  countFlag,
  periodFlags,
  type SubjectFlags,
  sinceFlag,
  subjectFlag,
} from "../core/flags.ts";
import { agreeToScan } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import {
  eventHistory,
  type HistoryEvent,
  type HistoryPeriod,
  historyOutcomes,
  selectHistory,
  withSubjects,
} from "../events/event-history.ts";
import { type EventQuery, type ListedEvent, listEvents } from "../events/event-list.ts";
import { lookupPorts } from "../events/event-lookup.ts";

type Flags = SubjectFlags & {
  readonly kind?: string;
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
  readonly endpoint?: string;
  readonly text?: string;
  readonly outcome?: string;
  readonly state?: string;
  readonly limit: string;
};

export function addTo(group: Command): void {
  addCommand<Flags>(group, {
    name: "list",
    summary:
      "Lists events, newest first: of one user or account from the table, otherwise from the functions' logs. --state reads the whole table, and asks first if that costs money.",
    asks: true,
    examples: [
      "npx income-events events list --user 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed    includes the user's accounts",
      "npx income-events events list --type account.* --since 7d    from the functions' logs",
      "npx income-events events list --state stored --until 15m    events without progress for 15 minutes",
    ],
    run: list,
  })
    .option("--user <id>", "only this user and its accounts")
    .option("--account <id>", "only this account")
    .option("--company-account <id>", "only this company account")
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
}

/** The time range to search in the logs by default. */
const defaultSince = "24h";

async function list(operation: Operation, flags: Flags): Promise<void> {
  const { deployment, terminal } = operation;
  const query = parseQuery(flags, new Date());
  if (query.subject === undefined && query.state === undefined) return listHistory(operation, query, flags);
  const onScanned = query.subject === undefined ? await agreeToScan(operation) : undefined;
  const events = await listEvents(query, lookupPorts(operation, onScanned));
  terminal.result(
    { stage: deployment.stage, events: events.map(describe) },
    events.length === 0 ? "No events found." : tableText(head, events.map(row)),
  );
}

/** Lists events from the functions' logs; the table is read only for their subjects. */
async function listHistory(
  operation: Operation,
  { filter, limit }: EventQuery,
  { outcome, since: given = defaultSince }: Flags,
): Promise<void> {
  const { deployment, terminal } = operation;
  const { since = sinceFlag(given, new Date()) ?? "", until, ...rest } = filter;
  let done = 0;
  const events = await eventHistory(operation, present<HistoryPeriod>({ since, until }), (progress) => {
    if (progress.done === done) return;
    done = progress.done;
    terminal.progress(`Read ${done} of ${progress.total} functions' logs: ${progress.lines} lines.`);
  });
  const wanted = choiceFlag("--outcome", outcome, historyOutcomes);
  const selected = selectHistory(events, { ...rest, ...(wanted && { outcome: wanted }) });
  const listed = await withSubjects(selected.slice(0, limit), operation);
  const more = selected.length > limit ? `\n${selected.length - limit} more: see --limit.` : "";
  terminal.result(
    { stage: deployment.stage, from: "logs", since, count: selected.length, events: listed },
    listed.length === 0 ? "No events found." : `${tableText(historyHead, listed.map(historyRow))}${more}`,
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
  if (type !== undefined && !eventTypes.some((one) => wants({ name: "", types: [type] }, one)))
    throw CommandError.usage(
      `--type ${JSON.stringify(type)}: write one of ${eventTypes.join(", ")}; or a prefix with *.`,
    );
  const filter = present<EventQuery["filter"]>({
    kind: choiceFlag("--kind", flags.kind, webhookKinds),
    type,
    ...{ endpoint: flags.endpoint, text: flags.text },
    ...periodFlags(flags, now),
  });
  choiceFlag("--outcome", flags.outcome, historyOutcomes);
  const subject = subjectFlag(flags);
  checkFilter(filter, subject);
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
function checkFilter({ kind, type }: EventQuery["filter"], subject: Subject | undefined): void {
  const selected = eventTypes.filter(
    (one) =>
      (type === undefined || wants({ name: "", types: [type] }, one)) &&
      (kind === undefined || kindOf(one) === kind),
  );
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

function kindOf(type: EventType): WebhookKind {
  return `${subjectKindOf(type)}s`;
}

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
