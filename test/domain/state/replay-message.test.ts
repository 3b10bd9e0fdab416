import { describe, expect, it } from "vitest";
import { type DataSet, fetched, want } from "../../../domain/fetch/document.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfDataSet, messageOfState } from "../../../domain/message/message.ts";
import { retellData, retellDataSet, retellState } from "../../../domain/state/replay-message.ts";
import { type State, settle } from "../../../domain/state/state.ts";
import { account, accountId, at, eventOf, judgeAll, judged, minute } from "../samples.ts";

const source = "urn:test";
const connect = eventOf("account.connected", { time: minute(1) });
const disconnect = eventOf("account.disconnected", { time: minute(2) });
const remove = eventOf("account.deleted", { time: minute(3) });

describe("an event told again", () => {
  it("is told as it was where it is the latest that its record judged", () => {
    const state = judged([connect, disconnect]);
    expect(retellState(state, disconnect)).toBe(state);
  });

  it("has its own words, and the sequence and state of today", () => {
    const state = judged([connect, disconnect]);
    expect(messageOfState(retellState(state, connect), source)).toMatchObject({
      id: connect.id,
      type: "account.connected",
      time: minute(1),
      sequence: "00000000000000000002",
      data: { accountId, connected: false, outcome: "stale" },
    });
  });

  const again = eventOf("account.updated", { time: minute(4), connected: false });
  const weak = eventOf("account.connected");
  it.each<[string, State, typeof connect, string]>([
    ["what it says is still so", judged([disconnect, again]), disconnect, "agreed"],
    [
      "it says nothing of what changed",
      judged([eventOf("account.created"), connect]),
      eventOf("account.created"),
      "agreed",
    ],
    ["something else is so now", judged([connect, disconnect]), connect, "stale"],
    ["its subject was deleted since", judged([connect, remove]), connect, "stale"],
    ["it told the deletion, and later ones came", judged([remove, connect]), remove, "agreed"],
    ["its subject is asked about", judged([disconnect, weak]), disconnect, "unconfirmed"],
  ])("where %s", (_, state, event, outcome) => {
    expect(retellState(state, event).latest).toMatchObject({ cause: "event", event, outcome });
  });

  it("is told of an endpoint as applied, with the sequence of today", () => {
    const endpoint = (id: string) => eventOf("endpoint.updated", { endpoint: "income", eventId: id });
    const first = want(undefined, account, { endpoint: "income" }, { event: endpoint("1"), receipts: 1 });
    const dataSet = want(first, account, { endpoint: "income" }, { event: endpoint("2"), receipts: 1 });
    if (dataSet === undefined) throw new Error("nothing was wanted");
    expect(messageOfDataSet(retellDataSet(dataSet, endpoint("1")), source)).toMatchObject({
      id: endpoint("1").id,
      sequence: "00000000000000000002",
      data: { outcome: "applied" },
    });
    expect(retellDataSet(dataSet, endpoint("2"))).toBe(dataSet);
  });
});

describe("data told again", () => {
  const wanted = (known?: DataSet): DataSet => {
    const event = eventOf("endpoint.updated", { endpoint: "income", eventId: String(known?.version ?? 0) });
    const next = want(known, account, { endpoint: "income" }, { event, receipts: 1 });
    if (next === undefined) throw new Error("nothing was wanted");
    return next;
  };
  const read = (known: DataSet, content: string | undefined): DataSet =>
    fetched(known, known.wanted, content, { at }) ?? known;
  const idOf = (dataSet: DataSet | undefined) => dataSet && messageOfDataSet(dataSet, source)?.id;

  it("has the id that told of it first, whatever came since, until it is other data", () => {
    const first = read(wanted(), "one");
    const id = idOf(first);
    expect(id).toBe(`account/${accountId}/income.2`);
    const same = read(wanted(first), "one");
    expect(same.latest).toEqual({ cause: "again" });
    expect(messageOfDataSet(retellData(same) ?? same, source)).toMatchObject({
      id,
      sequence: "00000000000000000004",
      time: at.toISOString(),
      data: { content: "one" },
    });
    expect(idOf(retellData(wanted(same)))).toBe(id);
    expect(idOf(retellData(read(wanted(same), "two")))).toBe(`account/${accountId}/income.6`);
    expect(idOf(retellData(read(wanted(same), undefined)))).toBe(`account/${accountId}/income.6`);
  });

  it("is nothing where none was ever told of", () => {
    expect(retellData(wanted())).toBeUndefined();
    expect(retellData(read(wanted(), undefined))).toBeUndefined();
  });

  it("of a release that did not note which version told of it has the id of today's", () => {
    const { announced: _, ...known } = read(wanted(read(wanted(), "one")), "one");
    expect(idOf(retellData(known))).toBe(`account/${accountId}/income.4`);
  });
});

describe("a version that is handed over as telling something else", () => {
  const before = judged([connect, disconnect]);

  it("has its message published, and nothing else follows", () => {
    const asked = judgeAll([eventOf("account.connected")], before);
    if (asked === undefined) throw new Error("the event was not judged");
    expect(asked.unconfirmed).toBe(true);
    for (const state of [before, asked]) {
      const after = retellState(state, connect);
      expect(consequencesOf({ of: "state", before: state, after }, source)).toEqual([
        { do: "publish", message: messageOfState(after, source) },
      ]);
    }
  });

  it("has no consequences where it tells the same, as in a write that left the version alone", () => {
    expect(consequencesOf({ of: "state", before, after: { ...before } }, source)).toEqual([]);
    const settled = settle(
      judgeAll([eventOf("account.connected")], before),
      3,
      { found: true, connected: true },
      { at },
    );
    if (settled === undefined) throw new Error("nothing was settled");
    expect(consequencesOf({ of: "state", before: settled, after: { ...settled } }, source)).toEqual([]);
  });
});
