import { showEvent } from "@income-events/cli/commands/events.ts";
import { runReplay } from "@income-events/cli/commands/replay.ts";
import { periodFlags, type SubjectFlags, sinceFlag, subjectFlag } from "@income-events/cli/core/flags.ts";
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
import { eventSteps, webhookOf } from "@income-events/cli/events/event-steps.ts";
import { stageEntries } from "@income-events/cli/logs/log-entries.ts";
import { subscriberQueues } from "@income-events/cli/status/work-queues.ts";
import { present } from "../../../domain/core/parse.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import type { Histories, ReadHistory } from "../history.ts";
import {
  type Asked,
  type ConsoleContext,
  change,
  type Jobs,
  look,
  type Route,
  read,
  runCommand,
} from "../route.ts";
import { findById, idIn } from "./find.ts";

const maxOfSubject = 100_000;

/** @param histories the histories that pages read */
export function eventRoutes(histories: Histories, jobs: Jobs): readonly Route[] {
  return [
    read("/api/events", async (context, asked) => {
      const reading = asked.param("reading") ?? histories.begin(historyReader(context, asked));
      const page = await histories.page(reading, filterIn(asked), Number(asked.param("offset") ?? 0));
      return { ...page, events: await withSubjects(page.events, context.operation) };
    }),
    read("/api/event", event),
    look("/api/event/reveal", ({ operation }, asked) => {
      const flags = { ...subjectFlags((name) => asked.optionalText(name)), reveal: true };
      const agreed = { isAgreed: asked.body.scan === true };
      return runCommand(operation, (each) => showEvent(each, flags, asked.text("id")), agreed);
    }),
    read("/api/event/steps", steps),
    read("/api/find", findById),
    read("/api/refused", async ({ operation, now }, asked) => ({
      refusals: await refusals(operation, sinceFlag(asked.param("since") ?? "24h", now()) ?? ""),
    })),
    change("/api/event/resend", async ({ operation }, asked) => {
      const subscriber = asked.text("subscriber");
      const since = asked.text("receivedAt");
      const until = new Date(Date.parse(since) + 1).toISOString();
      const flags = { ...subjectFlags((name) => asked.optionalText(name)), subscriber, since, until };
      return jobs.start(`Resend an event to ${subscriber}`, (onProgress) =>
        runCommand(operation, (each) => runReplay(each, flags), { isAgreed: true, onProgress }),
      );
    }),
  ];
}

/** Reads a subject's events from the table, and all others from the functions' logs. */
function historyReader({ operation, now }: ConsoleContext, asked: Asked): ReadHistory {
  const { since = "", until } = periodFlags(
    { since: asked.param("since") ?? "1h", until: asked.param("until") },
    now(),
  );
  const subject = subjectFlag(subjectFlags((name) => asked.param(name)));
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
    kind: asked.param("kind"),
    type: asked.param("type"),
    outcome: asked.param("outcome"),
    endpoint: asked.param("endpoint"),
    text: asked.param("text"),
  });
}

function subjectFlags(asked: (name: string) => string | undefined): SubjectFlags {
  const [user, account, companyAccount] = ["user", "account", "company-account"].map(asked);
  return present<SubjectFlags>({ user, account, companyAccount });
}

async function event({ operation }: ConsoleContext, asked: Asked): Promise<object> {
  const flags = subjectFlags((name) => asked.param(name));
  const agreed = { isAgreed: asked.param("scan") === "yes" };
  return runCommand(operation, (each) => showEvent(each, flags, asked.param("id")), agreed);
}

/** The steps of an event, from all log lines with its id. */
async function steps({ operation, now }: ConsoleContext, asked: Asked): Promise<object> {
  const id = idIn(asked);
  const since = sinceFlag(asked.param("since") ?? "7d", now()) ?? "";
  const own = await stageEntries(operation, { since, text: id });
  const webhook = webhookOf(own, id);
  // The receipt of the webhook is logged under the webhook's own id.
  const came = webhook === undefined ? [] : await stageEntries(operation, { since, text: webhook });
  const entries = [...came.filter(({ code }) => String(code).startsWith("WEBHOOK_")), ...own];
  return { steps: eventSteps(entries, { id, subscribers: subscriberQueues(operation.deployment) }) };
}
