import { describe, expect, it } from "vitest";
import { type DocumentRecord, fetched, requestFetch } from "../../../domain/fetch/document.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfDocument, messageOfState } from "../../../domain/message/message.ts";
import { replayData, replayDocument, replayState } from "../../../domain/state/replay-message.ts";
import { applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, accountId, applied, applyAll, at, eventOf, minute } from "../samples.ts";

const source = "urn:test";
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
    ["it told the deletion, and later ones came", applied([remove, connect]), remove, "agreed"],
    ["its subject is asked about", applied([disconnect, unordered]), disconnect, "unconfirmed"],
  ])("where %s", (_, state, event, outcome) => {
    expect(replayState(state, event).latest).toMatchObject({ cause: "event", event, outcome });
  });

  it("is sent for an endpoint as applied, with the sequence of today", () => {
    const endpoint = (id: string) => eventOf("endpoint.updated", { endpoint: "income", eventId: id });
    const first = requestFetch(
      undefined,
      account,
      { endpoint: "income" },
      { event: endpoint("1"), receipts: 1 },
    );
    const document = requestFetch(
      first,
      account,
      { endpoint: "income" },
      { event: endpoint("2"), receipts: 1 },
    );
    if (document === undefined) throw new Error("nothing was wanted");
    expect(messageOfDocument(replayDocument(document, endpoint("1")), source)).toMatchObject({
      id: endpoint("1").id,
      sequence: "00000000000000000002",
      data: { outcome: "applied" },
    });
    expect(replayDocument(document, endpoint("2"))).toBe(document);
  });
});

describe("data that is replayed", () => {
  const requested = (known?: DocumentRecord): DocumentRecord => {
    const event = eventOf("endpoint.updated", { endpoint: "income", eventId: String(known?.version ?? 0) });
    const next = requestFetch(known, account, { endpoint: "income" }, { event, receipts: 1 });
    if (next === undefined) throw new Error("nothing was wanted");
    return next;
  };
  const read = (known: DocumentRecord, content: string | undefined): DocumentRecord =>
    fetched(known, known.wanted, content, { at }) ?? known;
  const idOf = (document: DocumentRecord | undefined) => document && messageOfDocument(document, source)?.id;

  it("has the id that announced it first, whatever came since, until it is other data", () => {
    const first = read(requested(), "one");
    const id = idOf(first);
    expect(id).toBe(`account/${accountId}/income.2`);
    const same = read(requested(first), "one");
    expect(same.latest).toEqual({ cause: "again" });
    expect(messageOfDocument(replayData(same) ?? same, source)).toMatchObject({
      id,
      sequence: "00000000000000000004",
      time: at.toISOString(),
      data: { content: "one" },
    });
    expect(idOf(replayData(requested(same)))).toBe(id);
    expect(idOf(replayData(read(requested(same), "two")))).toBe(`account/${accountId}/income.6`);
    expect(idOf(replayData(read(requested(same), undefined)))).toBe(`account/${accountId}/income.6`);
  });

  it("is nothing where none was ever announced", () => {
    expect(replayData(requested())).toBeUndefined();
    expect(replayData(read(requested(), undefined))).toBeUndefined();
  });

  it("of a release that did not note which version announced it has the id of today's", () => {
    const { announced: _, ...known } = read(requested(read(requested(), "one")), "one");
    expect(idOf(replayData(known))).toBe(`account/${accountId}/income.4`);
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
      expect(consequencesOf({ of: "state", before: state, after }, source)).toEqual([
        { do: "publish", message: messageOfState(after, source) },
      ]);
    }
  });

  it("has no consequences where its message is the same, as in a write that left the version alone", () => {
    expect(consequencesOf({ of: "state", before, after: { ...before } }, source)).toEqual([]);
    const settled = applyProviderAnswer(
      applyAll([eventOf("account.connected")], before),
      3,
      { found: true, connected: true },
      { at },
    );
    if (settled === undefined) throw new Error("nothing was settled");
    expect(consequencesOf({ of: "state", before: settled, after: { ...settled } }, source)).toEqual([]);
  });
});
