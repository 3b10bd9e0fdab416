import { showEvent } from "@income-events/cli/commands/events.ts";
import { runReplay } from "@income-events/cli/commands/replay.ts";
import { periodFlags, type SubjectFlags, subjectFlag, subjectKinds } from "@income-events/cli/core/flags.ts";
import {
  eventHistory,
  type HistoryFilter,
  type HistoryPeriod,
  type HistoryRow,
  refusals,
  withSubjects,
} from "@income-events/cli/events/event-history.ts";
import { type ListedEvent, listEvents } from "@income-events/cli/events/event-list.ts";
import { lookupPorts } from "@income-events/cli/events/event-lookup.ts";
import { eventSteps, type TimedStep, webhookOf } from "@income-events/cli/events/event-steps.ts";
import { stageEntries } from "@income-events/cli/logs/log-entries.ts";
import { subscriberQueues } from "@income-events/cli/status/work-queues.ts";
import { present } from "../../../domain/core/parse.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import type { Histories, ReadHistory } from "../history.ts";
import {
  type Asked,
  agreed,
  type ConsoleContext,
  change,
  type Jobs,
  masked,
  type Route,
  read,
  runCommand,
  sinceIn,
} from "../route.ts";
import { findById, idIn } from "./find.ts";

const maxOfSubject = 100_000;

/** @param histories the histories that pages read */
export function eventRoutes(histories: Histories, jobs: Jobs): readonly Route[] {
  return [
    read("/api/events", async (context, asked) => {
      const [id, read] = [asked.text("reading"), historyReader(context, asked)];
      const page = await histories.page(id, read, filterIn(asked), Number(asked.optional("offset") ?? 0));
      return { ...page, events: await withSubjects(page.events, context.operation) };
    }),
    ...masked("/api/event", ({ operation }, asked, reveal) => {
      const flags = { ...subjectFlags(asked), reveal };
      const isAgreed = asked.is("scan");
      return runCommand(operation, (each) => showEvent(each, flags, asked.text("id")), { isAgreed });
    }),
    read("/api/event/steps", steps),
    read("/api/find", findById),
    read("/api/refused", ({ operation, now }, asked) => refusals(operation, sinceIn(asked, now(), "24h"))),
    change("/api/event/resend", async ({ operation }, asked) => {
      const subscriber = asked.text("subscriber");
      const receivedAt = asked.text("receivedAt");
      const until = new Date(Date.parse(receivedAt) + 1).toISOString();
      const flags = { ...subjectFlags(asked), subscriber, since: receivedAt, until };
      const resend = agreed(operation, (each) => runReplay(each, flags));
      return jobs.start(`Resend an event to ${subscriber}`, resend);
    }),
  ];
}

/** Reads a subject's events from the table, and all others from the functions' logs. */
function historyReader({ operation, now }: ConsoleContext, asked: Asked): ReadHistory {
  const wanted = { since: asked.optional("since") ?? "1h", until: asked.optional("until") };
  const { since = "", until } = periodFlags(wanted, now());
  const subject = subjectFlag(subjectFlags(asked));
  const period = present<HistoryPeriod>({ since, until });
  if (subject === undefined) return (onProgress) => eventHistory(operation, period, onProgress);
  const ports = lookupPorts(operation);
  return async () => (await listEvents({ subject, filter: period, limit: maxOfSubject }, ports)).map(rowOf);
}

function rowOf({ event, receipts, progress }: ListedEvent): HistoryRow {
  const { id, kind, receivedAt, type, endpoint } = event;
  return {
    ...{ id, kind, at: receivedAt, outcome: progress.outcome ?? progress.state, type, times: receipts.count },
    subject: nameOf(subjectOf(event)),
    ...present({ endpoint }),
  };
}

function filterIn(asked: Asked): HistoryFilter {
  return present<HistoryFilter>({
    kind: asked.optional("kind"),
    type: asked.optional("type"),
    outcome: asked.optional("outcome"),
    endpoint: asked.optional("endpoint"),
    text: asked.optional("text"),
  });
}

function subjectFlags(asked: Asked): SubjectFlags {
  const [user, account, companyAccount] = subjectKinds.map((kind) => asked.optional(kind));
  return present<SubjectFlags>({ user, account, companyAccount });
}

/** The steps of an event, from all log lines with its id. */
async function steps({ operation, now }: ConsoleContext, asked: Asked): Promise<readonly TimedStep[]> {
  const id = idIn(asked);
  const since = sinceIn(asked, now(), "7d");
  const own = await stageEntries(operation, { since, text: id });
  const webhook = webhookOf(own, id);
  // The receipt of the webhook is logged under the webhook's own id.
  const came = webhook === undefined ? [] : await stageEntries(operation, { since, text: webhook });
  const entries = [...came.filter(({ code }) => String(code).startsWith("WEBHOOK_")), ...own];
  return eventSteps(entries, { id, subscribers: subscriberQueues(operation.deployment) });
}
