import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfState } from "../../../domain/message/message.ts";
import { type Change, correlationOfChange, receivedAtOfChange } from "../../../domain/state/change.ts";
import {
  isSelected,
  latestEventOf,
  replayEvent,
  replayRecord,
  replayState,
} from "../../../domain/state/replay.ts";
import { applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { accountId, applied, applyAll, at, documentRead, eventOf, minute, receiptsOf } from "../samples.ts";

const source = "urn:test";
const events = (count: number) =>
  Array.from({ length: count }, (_, index) => eventOf("account.updated", { time: minute(index) }));

const dataEvent = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
const stored = (event: IncomeEvent, count = 1) => ({ event, receipts: receiptsOf(count) });

const origin = { source, documentsUrl: "https://reads.example/" };

describe("an event's message in a replay", () => {
  it("is pending if its subject is known and has not processed it", () => {
    const state = applied(events(3));
    const late = eventOf("account.connected", { time: minute(9) });
    expect(replayEvent(stored(late), state, source)).toBeUndefined();
    expect(replayEvent(stored(late), undefined, source)).toBeUndefined();
  });

  it("is sent if its subject has processed so many later events that it was forgotten", () => {
    const [first, ...others] = events(30);
    if (first === undefined) throw new Error("there is no event");
    const state = applied([first, ...others]);
    expect(replayEvent(stored(first), state, source)).toMatchObject({
      message: { id: first.id },
      timestamp: first.receivedAt,
    });
  });

  it("of an endpoint is sent as it was, with the sequence of its first receipt", () => {
    for (const count of [1, 4]) {
      expect(replayEvent(stored(dataEvent, count), undefined, source)).toMatchObject({
        message: {
          id: dataEvent.id,
          type: "endpoint.updated",
          subject: `account/${accountId}/income`,
          sequence: "00000000000000000001",
        },
        timestamp: dataEvent.receivedAt,
      });
    }
  });
});

describe("a record's message in a replay", () => {
  const announced = applied([eventOf("account.connected"), eventOf("account.disconnected")]);

  it("is the provider's answer if that was the latest change", () => {
    const answered = applyProviderAnswer(
      announced,
      announced.version,
      { found: true, connected: false },
      { at },
    );
    if (answered === undefined) throw new Error("no answer was applied");
    expect(replayRecord({ type: "state", before: undefined, after: answered }, origin)).toMatchObject([
      { message: { type: "account.confirmed" }, timestamp: at.toISOString() },
    ]);
    expect(replayRecord({ type: "state", before: undefined, after: announced }, origin)).toEqual([]);
  });

  it("is its data as of the last change, and nothing if it never had data", () => {
    const replayed = (digest: string | undefined) => {
      const first = documentRead(undefined, digest, { asOf: at.getTime() });
      const after = documentRead(first, digest, { asOf: at.getTime() + 60_000 });
      return replayRecord({ type: "document", before: undefined, after }, origin);
    };
    expect(replayed("digest")).toMatchObject([
      {
        message: {
          type: "data.updated",
          id: `account/${accountId}/income.${at.getTime()}`,
          data: { document: { sha256: "digest" } },
        },
        timestamp: at.toISOString(),
      },
    ]);
    expect(replayed(undefined)).toEqual([]);
  });

  it("announces that its data is gone, if it had data before", () => {
    const after = documentRead(documentRead(undefined, "digest", { asOf: 1 }), undefined, { asOf: 2 });
    const [replayed] = replayRecord({ type: "document", before: undefined, after }, origin);
    expect(replayed?.message.data).not.toHaveProperty("document");
  });

  it("names the event that a state announces, if it announces one", () => {
    const event = eventOf("account.disconnected");
    expect(latestEventOf(announced)).toEqual(event);
    expect(latestEventOf({ latest: { cause: "again" } })).toBeUndefined();
  });
});

describe("a selection", () => {
  const message = { type: "account.connected", timestamp: minute(10) };

  it.each([
    ["everything, where it says nothing", {}, true],
    ["its type", { type: "account.connected" }, true],
    ["no other type", { type: "account.created" }, false],
    ["types by what they begin with", { type: "account.*" }, true],
    ["what came since a moment, that moment included", { since: minute(10) }, true],
    ["nothing from before it", { since: minute(11) }, false],
    ["what came until a moment", { until: minute(11) }, true],
    ["nothing of that moment or later", { until: minute(10) }, false],
    ["only what all of it allows", { type: "account.*", since: minute(9), until: minute(10) }, false],
  ])("takes %s", (_, selection, isTaken) => {
    expect(isSelected(selection, message)).toBe(isTaken);
  });
});

const connect = eventOf("account.connected", { time: minute(1) });
const disconnect = eventOf("account.disconnected", { time: minute(2) });
const remove = eventOf("account.deleted", { time: minute(3) });

describe("an event that is replayed", () => {
  it("is sent unchanged if it is the latest that its record processed", () => {
    const state = applied([connect, disconnect]);
    expect(replayState(state, disconnect)).toBe(state);
  });

  it("has its own fields, with the current sequence and state", () => {
    const state = applied([connect, disconnect]);
    expect(messageOfState(replayState(state, connect), source)).toMatchObject({
      id: connect.id,
      type: "account.connected",
      time: minute(1),
      sequence: "00000000000000000002",
      data: { accountId, connected: false, outcome: "stale" },
    });
  });

  const again = eventOf("account.updated", { time: minute(4), connected: false });
  const unordered = eventOf("account.connected");
  it.each<[string, State, typeof connect, string]>([
    ["what it says is still so", applied([disconnect, again]), disconnect, "agreed"],
    [
      "it says nothing of what changed",
      applied([eventOf("account.created"), connect]),
      eventOf("account.created"),
      "agreed",
    ],
    ["something else is so now", applied([connect, disconnect]), connect, "stale"],
    ["its subject was deleted since", applied([connect, remove]), connect, "stale"],
    ["it announced the deletion, and later ones came", applied([remove, connect]), remove, "agreed"],
    ["its subject is asked about", applied([disconnect, unordered]), disconnect, "unconfirmed"],
  ])("where %s", (_, state, event, outcome) => {
    expect(replayState(state, event).latest).toMatchObject({ cause: "event", event, outcome });
  });
});

describe("a version that is handed over as telling something else", () => {
  const before = applied([connect, disconnect]);

  it("only publishes its message", () => {
    const asked = applyAll([eventOf("account.connected")], before);
    if (asked === undefined) throw new Error("the event was not judged");
    expect(asked.unconfirmed).toBe(true);
    for (const state of [before, asked]) {
      const after = replayState(state, connect);
      expect(consequencesOf({ type: "state", before: state, after }, { ...origin, readByRange: [] })).toEqual(
        [{ type: "publish", message: messageOfState(after, source) }],
      );
    }
  });

  it("has no consequences if its message is unchanged", () => {
    expect(
      consequencesOf({ type: "state", before, after: { ...before } }, { ...origin, readByRange: [] }),
    ).toEqual([]);
    const answered = applyProviderAnswer(
      applyAll([eventOf("account.connected")], before),
      3,
      { found: true, connected: true },
      { at },
    );
    if (answered === undefined) throw new Error("no answer was applied");
    expect(
      consequencesOf(
        { type: "state", before: answered, after: { ...answered } },
        { ...origin, readByRange: [] },
      ),
    ).toEqual([]);
  });
});

describe("a change", () => {
  const event = eventOf("account.connected", { receivedAt: minute(3) });
  const reconciled = { ...event, reconciled: true as const };
  const answered: State = {
    ...applied([event]),
    latest: { cause: "answer", at: minute(9), correlationId: "c" },
  };
  const change = (after: State): Change => ({ type: "state", before: undefined, after });
  const ofEvent = (of: IncomeEvent): Change => ({ type: "event", ...stored(of), countBefore: 0 });
  const document = documentRead(undefined, "digest", { asOf: 1, correlationId: "d" });
  const user = { kind: "user", id: "u" } as const;
  const readiness = { subject: user, version: 1, at: 1, accounts: [], correlationId: "r" };

  it.each<[string, Change, number | undefined, string]>([
    ["a receipt", ofEvent(event), 1, event.id],
    ["what reconciliation found", ofEvent(reconciled), undefined, event.id],
    ["a state's event", change(applied([event])), Date.parse(minute(3)), event.id],
    ["a state's event that reconciliation found", change(applied([reconciled])), undefined, event.id],
    ["a provider's answer", change(answered), undefined, "c"],
    ["a document", { type: "document", before: undefined, after: document }, undefined, "d"],
    ["a user's readiness", { type: "userReadiness", before: undefined, after: readiness }, undefined, "r"],
  ])("has the time of its webhook's receipt, if it has one, and the id of its cause: %s", (_, of, at, id) => {
    expect(receivedAtOfChange(of)).toBe(at);
    expect(correlationOfChange(of)).toBe(id);
  });
});
