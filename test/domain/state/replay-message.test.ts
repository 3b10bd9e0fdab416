import { describe, expect, it } from "vitest";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfState } from "../../../domain/message/message.ts";
import { replayState } from "../../../domain/state/replay-message.ts";
import { applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { accountId, applied, applyAll, at, eventOf, minute } from "../samples.ts";

const settings = { source: "urn:test", readByRange: [], documentsUrl: "https://reads.example/" };
const { source } = settings;
const connect = eventOf("account.connected", { time: minute(1) });
const disconnect = eventOf("account.disconnected", { time: minute(2) });
const remove = eventOf("account.deleted", { time: minute(3) });

describe("an event that is replayed", () => {
  it("is sent as it was where it is the latest that its record processed", () => {
    const state = applied([connect, disconnect]);
    expect(replayState(state, disconnect)).toBe(state);
  });

  it("has its own words, and the sequence and state of today", () => {
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

  it("has its message published, and nothing else follows", () => {
    const asked = applyAll([eventOf("account.connected")], before);
    if (asked === undefined) throw new Error("the event was not judged");
    expect(asked.unconfirmed).toBe(true);
    for (const state of [before, asked]) {
      const after = replayState(state, connect);
      expect(consequencesOf({ of: "state", before: state, after }, settings)).toEqual([
        { do: "publish", message: messageOfState(after, source) },
      ]);
    }
  });

  it("has no consequences where its message is the same, as in a write that left the version alone", () => {
    expect(consequencesOf({ of: "state", before, after: { ...before } }, settings)).toEqual([]);
    const answered = applyProviderAnswer(
      applyAll([eventOf("account.connected")], before),
      3,
      { found: true, connected: true },
      { at },
    );
    if (answered === undefined) throw new Error("no answer was applied");
    expect(consequencesOf({ of: "state", before: answered, after: { ...answered } }, settings)).toEqual([]);
  });
});
