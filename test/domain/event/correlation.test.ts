import { describe, expect, it } from "vitest";
import { envelopeVersion, writeEnvelope } from "../../../domain/event/envelope.ts";
import { correlationIdIn } from "../../../domain/event/events.ts";
import { type FetchTask, stateTask, writeTask } from "../../../domain/fetch/task.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { repairsOfDocument, repairsOfEvent, repairsOfState } from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { replayEvent, replayRecord } from "../../../domain/state/replay.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, at, documentRead, eventChange, eventOf, receiptsOf } from "../samples.ts";

const settings = { source: "/income-events/test", readByRange: [], documentsUrl: "https://reads.example/" };

/** Correlation ids of everything that a change sends. */
function idsOf(change: Change): readonly (string | undefined)[] {
  return consequencesOf(change, settings).flatMap((each) => {
    if (each.type === "publish") return [each.message.correlationid];
    return each.type === "call" ? [each.task.correlationId] : [];
  });
}

/** The task of a change, as another function parses it. */
function taskOf(change: Change): FetchTask {
  const [task] = consequencesOf(change, settings).flatMap((each) =>
    each.type === "call" ? [each.task] : [],
  );
  if (task === undefined) throw new Error("no task");
  return task;
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing changed");
  return value;
}

const ofState = (before: State | undefined, after: State): Change => ({ type: "state", before, after });

describe("what follows from an event has its id", () => {
  const connected = eventOf("account.connected");
  const disconnected = eventOf("account.disconnected");
  const updated = eventOf("endpoint.updated", { endpoint: "income" });
  const first = known(applyEvent(undefined, connected, 1));

  it("in the message and the task that it leads to itself", () => {
    expect(idsOf(ofState(undefined, first))).toEqual([connected.id, connected.id]);
  });

  it("in the provider's answer to a call that it caused", () => {
    const waiting = known(applyEvent(first, disconnected, 1));
    const { correlationId } = taskOf(ofState(first, waiting));
    const answered = known(
      applyProviderAnswer(waiting, 2, { found: true, connected: false }, { at, correlationId }),
    );
    expect(idsOf(ofState(waiting, answered))).toEqual([disconnected.id]);
  });

  it("in the call after a repeat of its bytes, although the record no longer names it", () => {
    const waiting = known(applyEvent(known(applyEvent(first, disconnected, 1)), connected, 2));
    expect(idsOf(ofState(first, waiting))).toEqual([connected.id]);
  });

  it("in the data that it caused to be read, and in its replayed message, whatever was read since", () => {
    expect(idsOf(eventChange(updated))).toEqual([updated.id, updated.id]);
    const { correlationId = "" } = taskOf(eventChange(updated));
    const read = documentRead(undefined, "digest", { asOf: 1, correlationId });
    expect(idsOf({ type: "document", before: undefined, after: read })).toEqual([updated.id]);

    const later = documentRead(read, "digest", { asOf: 2, correlationId: "another" });
    const [event, document] = [
      replayEvent({ event: updated, receipts: receiptsOf(2) }, undefined, settings.source),
      ...replayRecord({ type: "document", before: undefined, after: later }, settings),
    ];
    expect([event, document].map((replayed) => replayed?.message.correlationid)).toEqual([
      updated.id,
      updated.id,
    ]);
  });

  it("in the effects of a repair", () => {
    const waiting = known(applyEvent(first, disconnected, 1));
    expect(repairsOfState(waiting, false).flatMap(idsOf)).toContain(disconnected.id);
    expect(repairsOfEvent(eventChange(updated), undefined, {}).flatMap(idsOf)).toEqual([
      updated.id,
      updated.id,
    ]);
    const read = documentRead(undefined, "digest", { asOf: 1, correlationId: updated.id });
    expect(repairsOfDocument(read).flatMap(idsOf)).toEqual([updated.id]);
  });
});

describe("a message of a queue", () => {
  const id = "a-digest";

  it("has its event's id, its cause's, or that of the operator's erasure", () => {
    const body = { type: "text", text: '{"id":"of the body"}' } as const;
    const receivedAt = at.toISOString();
    const envelope = { schemaVersion: envelopeVersion, kind: "users", id, receivedAt, body } as const;
    expect(correlationIdIn(writeEnvelope(envelope))).toBe(id);
    expect(correlationIdIn(writeTask(stateTask("startFetch", account, 1, { correlationId: id })))).toBe(id);
    expect(correlationIdIn(writeEraseTask(eraseTask(account, "operator", [], id)))).toBe(id);
    const late = { ...eraseTask(account, "arrived late"), correlationId: id };
    expect(correlationIdIn(writeEraseTask(late))).toBe(id);
  });

  it.each(["", "no JSON", "[]", "null", '{"id":7}', writeTask(stateTask("startFetch", account, 1, {}))])(
    "may have none: %s",
    (text) => {
      expect(correlationIdIn(text)).toBeUndefined();
    },
  );
});
