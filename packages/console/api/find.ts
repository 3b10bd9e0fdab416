import { showRecord } from "@income-events/cli/commands/records-show.ts";
import type { Operation } from "@income-events/cli/core/command.ts";
import { CommandError } from "@income-events/cli/core/command-error.ts";
import { isWholeId, sinceFlag } from "@income-events/cli/core/flags.ts";
import { historyIn } from "@income-events/cli/events/event-history.ts";
import { type LogEntry, selectEntries, stageLogLines } from "@income-events/cli/logs/log-entries.ts";
import { textPattern } from "../../../adapters/aws/log-groups.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type Asked, type ConsoleContext, param } from "../route.ts";
import { runCommand } from "../run-command.ts";

type Found = {
  readonly kind: "event" | Subject["kind"];
  readonly id: string;
  /** Whom an event is about, where the logs say so: by that it is found without reading the whole table. */
  readonly subject?: string;
};

/** Whatever an id is of: somebody, a message about somebody, an event, or what a function logged: a message, a request. */
export async function findById(
  { operation, now }: ConsoleContext,
  asked: Asked,
): Promise<{ readonly found: readonly Found[] }> {
  const id = idIn(asked);
  const whose = await Promise.all(subjectsNamed(id).map((each) => knownSubject(operation, each)));
  if (whose.flat().length > 0) return { found: whose.flat() };
  const entries = await entriesOf(operation, sinceFlag("7d", now()) ?? "", id);
  const subjects = new Map(historyIn(entries).map((event) => [event.id, event.subject]));
  const ids = entries.flatMap(({ correlationId, correlationIds }) => [correlationId, correlationIds].flat());
  const events = [...new Set(ids.filter((each) => typeof each === "string"))];
  // A line of a batch has others beside the one that is looked for.
  const wanted = events.filter((each) => each.includes(id));
  return {
    found: (wanted.length > 0 ? wanted : events).map((each) => ({
      ...{ kind: "event", id: each },
      ...present({ subject: subjects.get(each) }),
    })),
  };
}

const subjectKinds = ["user", "account", "company-account"] as const;

/** A message that no single event announces has a name of its own: `account/<id>/income.17`, `user/<id>.erased.…`. */
const messageName = /^([a-z-]+)\/([^/]+?)(\/.*|\.\d+|\.erased\..*)?$/;

function subjectsNamed(text: string): readonly Subject[] {
  if (isWholeId(text)) return subjectKinds.map((kind) => ({ kind, id: text }));
  const [, name, id] = messageName.exec(text) ?? [];
  const kind = subjectKinds.find((each) => each === name);
  return kind === undefined || id === undefined ? [] : [{ kind, id }];
}

async function knownSubject(operation: Operation, { kind, id }: Subject): Promise<readonly Found[]> {
  try {
    await runCommand(operation, (each) => showRecord(each, {}, kind, id));
    return [{ kind, id }];
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}

/** What all functions have logged of an id since a time (ISO 8601), in order. */
export async function entriesOf(
  operation: Operation,
  since: string,
  id: string,
): Promise<readonly LogEntry[]> {
  const search = { since: new Date(since), pattern: textPattern(id) };
  return selectEntries(await stageLogLines(operation, search), { since, text: id });
}

/** @throws CommandError where it is too short to be one */
export function idIn(asked: Asked): string {
  const id = param(asked, "id") ?? "";
  if (id.length >= 8) return id;
  throw CommandError.usage(`The id ${id}: give 8 characters of it at least.`);
}
