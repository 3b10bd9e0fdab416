import { permanent } from "../core/failures.ts";
import { type IncomeEvent, subjectKindOf } from "../event/events.ts";
import { receiptsToProcess } from "../event/receipts.ts";
import { type Subject, subjectOf } from "../event/subjects.ts";
import type { DocumentRecord } from "../fetch/document.ts";
import { fetchStateTask, readTask, startTask, type Task } from "../fetch/tasks.ts";
import type { EraseTask } from "../recovery/erasure.ts";
import type { Change } from "../state/change.ts";
import { correlationOf, haveSameMessage, type LastChange } from "../state/last-change.ts";
import type { State } from "../state/state.ts";
import { messageOfDocument, messageOfState } from "./message.ts";
import type { Message } from "./message-schemas.ts";

/**
 * What follows from a change. `applyEvent` and `requestFetch` write to the table, whose stream then has the next
 * change; the others leave the table. Each is harmless when it is done twice.
 */
export type Consequence =
  | {
      readonly do: "applyEvent";
      readonly subject: Subject;
      readonly event: IncomeEvent;
      readonly receipts: number;
    }
  | {
      readonly do: "requestFetch";
      readonly subject: Subject;
      readonly endpoint: string;
      readonly event: IncomeEvent;
      readonly receipts: number;
    }
  | { readonly do: "link"; readonly userId: string; readonly accountId: string }
  | { readonly do: "call"; readonly task: Task }
  | { readonly do: "erase"; readonly task: EraseTask }
  | { readonly do: "publish"; readonly message: Message };

/**
 * Derives what follows from a change: a pure function of the change alone, so that a replayed stream, or
 * `repair` from the table, gives the same tasks and messages with the same ids.
 */
export function consequencesOf(change: Change, source: string): readonly Consequence[] {
  switch (change.of) {
    case "event":
      return receiptsToProcess(change.countBefore, change.receipts.count).map((receipt) =>
        ofEvent(change.event, receipt),
      );
    case "state":
      return ofState(change.before, change.after, source);
    case "data":
      return ofData(change.before, change.after, source);
  }
}

function ofEvent(event: IncomeEvent, receipts: number): Consequence {
  const subject = subjectOf(event);
  if (subjectKindOf(event.type) !== "endpoint") return { do: "applyEvent", subject, event, receipts };
  if (event.endpoint === undefined) throw permanent("event.endpoint: missing");
  return { do: "requestFetch", subject, endpoint: event.endpoint, event, receipts };
}

function ofState(before: State | undefined, after: State, source: string): readonly Consequence[] {
  if (before?.version === after.version)
    return isReplayed(before, after) ? publish([], messageOfState(after, source)) : [];
  const { subject, version, userId, latest } = after;
  const correlationId = correlationOf(latest);
  const list: Consequence[] = [];
  if (subject.kind === "account" && userId !== undefined && before?.userId === undefined) {
    list.push({ do: "link", userId, accountId: subject.id });
  }
  if (subject.kind !== "user" && isConnected(after) && before?.connected !== true) {
    list.push({ do: "call", task: startTask(subject, version, correlationId) });
  }
  if (after.unconfirmed) list.push({ do: "call", task: fetchStateTask(subject, version, correlationId) });
  return publish(list, messageOfState(after, source));
}

function ofData(
  before: DocumentRecord | undefined,
  after: DocumentRecord,
  source: string,
): readonly Consequence[] {
  if (before?.version === after.version)
    return isReplayed(before, after) ? publish([], messageOfDocument(after, source)) : [];
  const { subject, wanted, latest } = after;
  const isRequestedMore = wanted > (before?.wanted ?? 0);
  const task = readTask(subject, after, wanted, correlationOf(latest));
  return publish(isRequestedMore ? [{ do: "call", task }] : [], messageOfDocument(after, source));
}

/**
 * The stream announces every write; one that left the version alone has no consequences. Only `repair` hands over a
 * version whose `latest` is another: it announces an event again, and nothing else follows.
 */
function isReplayed(
  before: { readonly latest: LastChange },
  after: { readonly latest: LastChange },
): boolean {
  return !haveSameMessage(before.latest, after.latest);
}

function publish(list: readonly Consequence[], message: Message | undefined): readonly Consequence[] {
  return message === undefined ? list : [...list, { do: "publish", message }];
}

function isConnected(state: State): boolean {
  return state.connected === true && !state.deleted;
}
