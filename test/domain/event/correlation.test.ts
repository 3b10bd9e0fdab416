import { describe, expect, it } from "vitest";
import { correlationIdIn } from "../../../domain/event/correlation.ts";
import { envelopeVersion, writeEnvelope } from "../../../domain/event/envelope.ts";
import {
  type DocumentRecord,
  fetched,
  requestFetch,
  requestFetchFor,
} from "../../../domain/fetch/document.ts";
import { startTask, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { repairsOfDocument, repairsOfState } from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { correlationOf } from "../../../domain/state/last-change.ts";
import { replayRecord } from "../../../domain/state/replay.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, at, eventOf } from "../samples.ts";

const source = "/income-events/test";
const income = { endpoint: "income" };

/** The correlation ids of all that leaves the table with a change. */
function idsOf(change: Change): readonly (string | undefined)[] {
  return consequencesOf(change, source).flatMap((each) => {
    if (each.do === "publish") return [each.message.correlationid];
    return each.do === "call" ? [each.task.correlationId] : [];
  });
}

/** The task of a change, as another function reads it. */
function taskOf(change: Change): Task {
  const [task] = consequencesOf(change, source).flatMap((each) => (each.do === "call" ? [each.task] : []));
  if (task === undefined) throw new Error("no task");
  return task;
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing changed");
  return value;
}

const ofState = (before: State | undefined, after: State): Change => ({ of: "state", before, after });
const ofData = (before: DocumentRecord | undefined, after: DocumentRecord): Change => ({
  of: "data",
  before,
  after,
});

describe("what follows from an event has its id", () => {
  const connected = eventOf("account.connected");
  const disconnected = eventOf("account.disconnected");
  const first = known(applyEvent(undefined, connected, 1));

  it("in the message and the task that it leads to itself", () => {
    expect(idsOf(ofState(undefined, first))).toEqual([connected.id, connected.id]);
  });

  it("in the provider's answer to what it was asked because of it", () => {
    const waiting = known(applyEvent(first, disconnected, 1));
    const { correlationId } = taskOf(ofState(first, waiting));
    const answered = known(
      applyProviderAnswer(waiting, 2, { found: true, connected: false }, { at, correlationId }),
    );
    expect(idsOf(ofState(waiting, answered))).toEqual([disconnected.id]);
  });

  it("in what is asked where its bytes came again, though the record does not name it any more", () => {
    const waiting = known(applyEvent(known(applyEvent(first, disconnected, 1)), connected, 2));
    expect(idsOf(ofState(first, waiting))).toEqual([connected.id]);
  });

  it("in the data that is read because of it, and in its replayed message", () => {
    const updated = eventOf("endpoint.updated", income);
    const requested = known(requestFetch(undefined, account, income, { event: updated, receipts: 1 }));
    expect(idsOf(ofData(undefined, requested))).toEqual([updated.id, updated.id]);
    const { correlationId } = taskOf(ofData(undefined, requested));
    const read = known(fetched(requested, 1, "digest", { at, correlationId }));
    expect(idsOf(ofData(requested, read))).toEqual([updated.id]);

    const later = known(
      requestFetch(read, account, income, {
        event: eventOf("endpoint.updated", { ...income, eventId: "2" }),
        receipts: 1,
      }),
    );
    const replayed = replayRecord({ of: "data", before: undefined, after: later }, source);
    expect(replayed.map(({ message }) => message.correlationid)).toEqual([updated.id]);
  });

  it("in data that is read because its start was not answered, and where it brought nothing new", () => {
    const { correlationId } = taskOf(ofState(undefined, first));
    const requested = known(requestFetchFor(undefined, account, income, { key: "start.1", correlationId }));
    expect(idsOf(ofData(undefined, requested))).toEqual([connected.id]);
    const none = known(fetched(requested, 1, undefined, { at, correlationId }));
    expect(correlationOf(none.latest)).toBe(connected.id);
  });

  it("in what a repair does again", () => {
    const waiting = known(applyEvent(first, disconnected, 1));
    expect(repairsOfState(waiting, false).flatMap(idsOf)).toContain(disconnected.id);
    const updated = eventOf("endpoint.updated", income);
    const requested = known(requestFetch(undefined, account, income, { event: updated, receipts: 1 }));
    expect(repairsOfDocument(requested).flatMap(idsOf)).toEqual([updated.id]);
  });
});

describe("a message of a queue", () => {
  const id = "a-digest";

  it("has its event's id, its cause's, or that of the operator's erasure", () => {
    const body = { as: "text", text: '{"id":"of the body"}' } as const;
    const receivedAt = at.toISOString();
    const envelope = { schemaVersion: envelopeVersion, kind: "users", id, receivedAt, body } as const;
    expect(correlationIdIn(writeEnvelope(envelope))).toBe(id);
    expect(correlationIdIn(writeTask(startTask(account, 1, id)))).toBe(id);
    expect(correlationIdIn(writeEraseTask(eraseTask(account, "operator", [], id)))).toBe(id);
    const late = { ...eraseTask(account, "arrived late"), correlationId: id };
    expect(correlationIdIn(writeEraseTask(late))).toBe(id);
  });

  it.each(["", "no JSON", "[]", "null", '{"id":7}', writeTask(startTask(account, 1))])(
    "may have none: %s",
    (text) => {
      expect(correlationIdIn(text)).toBeUndefined();
    },
  );
});
