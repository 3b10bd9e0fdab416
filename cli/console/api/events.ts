import { present } from "../../../domain/core/parse.ts";
import { showEvent } from "../../commands/events-show.ts";
import { showRecord } from "../../commands/records-show.ts";
import { CommandError } from "../../core/command-error.ts";
import { isWholeId, type SubjectFlags, sinceFlag, subjectFlag } from "../../core/flags.ts";
import { eventHistory } from "../../events/event-history.ts";
import { listEvents } from "../../events/event-list.ts";
import { lookupPorts } from "../../events/event-lookup.ts";
import { selectEntries } from "../../logs/log-entries.ts";
import { stageLogLines } from "../../logs/log-lines.ts";
import { type Asked, type ConsoleContext, optionalTextIn, param, type Route, textIn } from "../route.ts";
import { runCommand } from "../run-command.ts";

/** More rows than this are asked for again with a narrower time. */
const maxHistory = 100_000;
const maxOfSubject = 1_000;

export const eventRoutes: readonly Route[] = [
  { method: "GET", path: "/api/events", answer: history },
  { method: "GET", path: "/api/event", answer: event },
  {
    // A look: it is written into the audit trail, and changes nothing else.
    method: "POST",
    path: "/api/event/reveal",
    answer: ({ operation }, asked) => {
      const flags = present<SubjectFlags>({
        user: optionalTextIn(asked, "user"),
        account: optionalTextIn(asked, "account"),
        companyAccount: optionalTextIn(asked, "company-account"),
      });
      const agreed = { isAgreed: asked.body.scan === true };
      return runCommand(
        operation,
        (each) => showEvent(each, { ...flags, reveal: true }, textIn(asked, "id")),
        agreed,
      );
    },
  },
  { method: "GET", path: "/api/logs", answer: logs },
  { method: "GET", path: "/api/find", answer: find },
];

/** A subject's events come from the table, by a query; all others from the functions' logs. */
async function history({ operation, now }: ConsoleContext, asked: Asked): Promise<object> {
  const { deployment, clients } = operation;
  const since = sinceFlag(param(asked, "since") ?? "1h", now()) ?? "";
  const subject = subjectFlag(subjectFlags(asked));
  if (subject === undefined) {
    const events = await eventHistory(operation, since);
    return { from: "logs", since, events: events.slice(0, maxHistory) };
  }
  const ports = {
    ...lookupPorts(clients.dynamodb, deployment.output("TableName")),
    onScanned: () => undefined,
  };
  const query = { subject, filter: { since }, limit: maxOfSubject };
  const events = await listEvents(query, ports);
  return {
    from: "table",
    since,
    events: events.map(({ event: { id, kind, receivedAt, type, endpoint }, receipts, progress }) => ({
      ...{
        id,
        kind,
        at: receivedAt,
        outcome: progress.outcome ?? progress.state,
        type,
        times: receipts.count,
      },
      ...present({ endpoint }),
    })),
  };
}

function subjectFlags(asked: Asked): SubjectFlags {
  return present<SubjectFlags>({
    user: param(asked, "user"),
    account: param(asked, "account"),
    companyAccount: param(asked, "company-account"),
  });
}

async function event({ operation }: ConsoleContext, asked: Asked): Promise<object> {
  const flags = subjectFlags(asked);
  const agreed = { isAgreed: param(asked, "scan") === "yes" };
  return runCommand(operation, (each) => showEvent(each, flags, param(asked, "id")), agreed);
}

/** What all functions have logged of an id, in order. */
async function logs({ operation, now }: ConsoleContext, asked: Asked): Promise<object> {
  const id = idIn(asked);
  const since = sinceFlag(param(asked, "since") ?? "7d", now()) ?? "";
  return { entries: selectEntries(await stageLogLines(operation, since, id), { since, text: id }) };
}

type Found = { readonly kind: "event" | "user" | "account" | "company-account"; readonly id: string };

/** Whatever an id is of: somebody, an event, or what a function logged: a message, a request. */
async function find(
  { operation, now }: ConsoleContext,
  asked: Asked,
): Promise<{ readonly found: readonly Found[] }> {
  const id = idIn(asked);
  if (isWholeId(id)) {
    const subjects = await Promise.all(
      (["user", "account", "company-account"] as const).map(async (kind): Promise<readonly Found[]> => {
        try {
          await runCommand(operation, (each) => showRecord(each, {}, kind, id));
          return [{ kind, id }];
        } catch (error) {
          if (error instanceof CommandError) return [];
          throw error;
        }
      }),
    );
    if (subjects.flat().length > 0) return { found: subjects.flat() };
  }
  const since = sinceFlag("7d", now()) ?? "";
  const entries = selectEntries(await stageLogLines(operation, since, id), { since, text: id });
  const ids = entries.flatMap(({ correlationId, correlationIds }) => [correlationId, correlationIds].flat());
  const events = [...new Set(ids.filter((each) => typeof each === "string"))];
  return { found: events.map((each) => ({ kind: "event", id: each })) };
}

function idIn(asked: Asked): string {
  const id = param(asked, "id") ?? "";
  if (id.length >= 8) return id;
  throw new CommandError("usage", `The id ${id}: give 8 characters of it at least.`);
}
