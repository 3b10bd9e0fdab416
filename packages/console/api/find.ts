import { scanUsers, showRecord } from "@income-events/cli/commands/records.ts";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { isWholeId, sinceFlag, subjectKinds } from "@income-events/cli/core/flags.ts";
import { historyIn, idsOf, withSubjects } from "@income-events/cli/events/event-history.ts";
import { type LogEntry, stageEntries } from "@income-events/cli/logs/log-entries.ts";
import { loggedNames } from "../../../adapters/dynamodb/logged-names.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Attributes } from "../../../domain/event/events.ts";
import { canonicalId, type Subject } from "../../../domain/event/subjects.ts";
import { type Asked, type ConsoleContext, runCommand } from "../route.ts";

export type Hit = {
  readonly type: Subject["kind"] | "event" | "message" | "request";
  readonly id: string;
  /** The subject of an event or a message. */
  readonly subject?: Subject;
  /** The type of an event; the function and the code that logged a message or a request; the user's matching attribute. */
  readonly detail?: string;
  /** The latest log line, ISO 8601. */
  readonly at?: string;
  /** The events in the log line of a message or a request, with their subjects unless these were erased. */
  readonly events?: readonly Pick<Hit, "id" | "subject">[];
};

export type Found = {
  readonly hits: readonly Hit[];
  readonly hasMore: boolean;
  /** Whether users' attributes were searched too. */
  readonly hasAttributes: boolean;
};

const shortestPart = 6;
/** UUIDs are in lower case in every log; ids of events are not UUIDs. */
const beginningOfUuid = /^[0-9a-f]{8}-[0-9a-f-]{0,27}$/i;
const maxHits = 50;

/**
 * Finds subjects, events, messages and requests by an id or a part of one. Reads whole ids of users and
 * accounts and names of messages in the table, parts of ids in its index, and the others in the functions'
 * logs of 7 days. If these have no match, searches all users' attributes: at once if that is free, otherwise with
 * `attributes=yes`.
 */
export async function findById({ operation, now }: ConsoleContext, asked: Asked): Promise<Found> {
  const text = idIn(asked);
  const known = await inTable(operation, text);
  if (known.length > 0) return foundIn(known);
  const searched = beginningOfUuid.test(text) ? text.toLowerCase() : text;
  const since = sinceFlag("7d", now()) ?? "";
  const entries = await stageEntries(operation, { since, text: searched });
  const logged = await describeEvents(hitsIn(entries, searched), entries, operation);
  const { find } = loggedNames(operation.clients.dynamodb, operation.deployment.output("TableName"));
  const isWhole = logged.some(({ id }) => id === text);
  const subjects = isWhole ? [] : await find(searched, maxHits + 1);
  const hits = [...subjects.map(({ kind: type, id }) => ({ type, id })), ...logged];
  const isFree = operation.deployment.local !== undefined;
  if (hits.length > 0 || !(isFree || asked.is("attributes"))) return foundIn(hits);
  return foundIn(await byAttribute(operation, text), true);
}

function foundIn(hits: readonly Hit[], hasAttributes = false): Found {
  return { hits: hits.slice(0, maxHits), hasMore: hits.length > maxHits, hasAttributes };
}

/** Users with a text in the value of an attribute. */
async function byAttribute(operation: Operation, text: string): Promise<readonly Hit[]> {
  const nameIn = (attributes: Attributes = {}) =>
    Object.keys(attributes).find((name) => attributes[name]?.includes(text));
  const users = await scanUsers(operation, (attributes) => nameIn(attributes) !== undefined);
  return users.map(({ subject: { kind: type, id }, attributes }) => ({
    ...{ type, id },
    ...present({ detail: nameIn(attributes?.values) }),
  }));
}

/**
 * A subject's name in logs and messages, possibly with a suffix: `account/ID`, `account/ID/income.17`,
 * `user/ID.erased.…`.
 */
const subjectName = /^(user|account|company-account)\/([^/]+?)(\/.*|\.\d+|\.erased\..*)?$/;

function subjectIn(name: string): Subject | undefined {
  const [, type, id] = subjectName.exec(name) ?? [];
  const kind = subjectKinds.find((each) => each === type);
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

async function inTable(operation: Operation, text: string): Promise<readonly Hit[]> {
  if (isWholeId(text)) {
    const all = subjectKinds.map((kind) => ({ kind, id: canonicalId(text) }));
    const known = await Promise.all(all.map((each) => isKnown(operation, each)));
    return all.filter((_, index) => known[index]).map(({ kind: type, id }) => ({ type, id }));
  }
  const subject = subjectIn(text);
  if (subject === undefined || !(await isKnown(operation, subject))) return [];
  const { kind, id } = subject;
  return [text === `${kind}/${id}` ? { type: kind, id } : { type: "message", id: text, subject }];
}

async function isKnown(operation: Operation, { kind, id }: Subject): Promise<boolean> {
  const shown = runCommand(operation, (each) => showRecord(each, {}, kind, id));
  return shown.then(Boolean, (error) => {
    if (error instanceof CommandError) return false;
    throw error;
  });
}

/** The events, messages and requests in log entries whose ids contain a text, newest first. */
function hitsIn(entries: readonly LogEntry[], text: string): readonly Hit[] {
  const hits = new Map<string, Hit>();
  const add = (hit: Hit) => {
    const key = `${hit.type} ${hit.id}`;
    const all = [...(hits.get(key)?.events ?? []), ...(hit.events ?? [])];
    const events = new Map(all.map((event) => [event.id, event]));
    hits.set(key, { ...hit, ...(events.size > 0 && { events: [...events.values()] }) });
  };
  for (const entry of entries) {
    const { timestamp: at, messageId, requestId } = entry;
    const events = idsOf(entry);
    for (const id of events.filter((each) => each.includes(text))) add({ type: "event", id, at });
    for (const [type, id] of [
      ["message", messageId],
      ["request", requestId],
    ] as const)
      if (typeof id === "string" && id.includes(text))
        add({
          ...{ type, id, at, detail: `${String(entry.function)} ${String(entry.code)}` },
          events: events.map((each) => ({ id: each })),
        });
  }
  return [...hits.values()].toSorted((one, other) => ((one.at ?? "") < (other.at ?? "") ? 1 : -1));
}

/** Adds types and subjects to the events of hits. */
async function describeEvents(
  hits: readonly Hit[],
  entries: readonly LogEntry[],
  operation: Operation,
): Promise<readonly Hit[]> {
  const shown = new Set(
    hits.slice(0, maxHits).flatMap(({ id, events = [] }) => [id, ...events.map((each) => each.id)]),
  );
  const history = await withSubjects(
    historyIn(entries).filter(({ id }) => shown.has(id)),
    operation,
  );
  const rows = new Map(history.map((row) => [row.id, row]));
  const named = <Named extends Pick<Hit, "id">>(event: Named) => {
    const { subject = "" } = rows.get(event.id) ?? {};
    return { ...event, ...present({ subject: subjectIn(subject) }) };
  };
  return hits.map(({ events, ...hit }) => ({
    ...(hit.type === "event" ? { ...named(hit), ...present({ detail: rows.get(hit.id)?.type }) } : hit),
    ...(events && { events: events.map(named) }),
  }));
}

/** @throws CommandError if it is too short for an id */
export function idIn(asked: Asked): string {
  const id = (asked.optional("id") ?? "").trim();
  if (id.length >= shortestPart) return id;
  throw CommandError.usage(`${id} is too short: write at least ${shortestPart} characters of the id.`);
}
