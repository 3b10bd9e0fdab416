import { describe, expect, it } from "vitest";
import { fetched, want } from "../../../domain/fetch/document.ts";
import { isSelected, latestEventOf, retellEvent, retellRecord } from "../../../domain/state/replay.ts";
import { settle } from "../../../domain/state/state.ts";
import { account, accountId, at, eventOf, judged, minute } from "../samples.ts";

const source = "urn:test";
const events = (count: number) =>
  Array.from({ length: count }, (_, index) => eventOf("account.updated", { time: minute(index) }));

const dataEvent = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
const name = { endpoint: "income" };

function wantedData() {
  const dataSet = want(undefined, account, name, { event: dataEvent, receipts: 1 });
  if (dataSet === undefined) throw new Error("nothing was wanted");
  return dataSet;
}

function fetchedData(content: string | undefined) {
  const dataSet = fetched(wantedData(), 1, content, { at });
  if (dataSet === undefined) throw new Error("nothing was fetched");
  return dataSet;
}

describe("an event's message in a replay", () => {
  it("is still to come where its subject is known and has not judged it", () => {
    const state = judged(events(3));
    const late = eventOf("account.connected", { time: minute(9) });
    expect(retellEvent(late, { state, dataSets: [] }, source)).toBeUndefined();
    expect(retellEvent(late, { state: undefined, dataSets: [] }, source)).toBeUndefined();
  });

  it("is told where its subject has judged so many since that it was forgotten", () => {
    const [first, ...others] = events(30);
    if (first === undefined) throw new Error("there is no event");
    const state = judged([first, ...others]);
    expect(retellEvent(first, { state, dataSets: [] }, source)).toMatchObject({
      message: { id: first.id },
      moment: first.receivedAt,
    });
  });

  it("of data is told by its data set, and is still to come where that has not counted it", () => {
    const records = { state: undefined, dataSets: [wantedData()] };
    expect(retellEvent(dataEvent, records, source)).toMatchObject({
      message: { id: dataEvent.id, type: "endpoint.updated", subject: `account/${accountId}/income` },
      moment: dataEvent.receivedAt,
    });
    const another = eventOf("endpoint.updated", { endpoint: "income", eventId: "another" });
    expect(retellEvent(another, records, source)).toBeUndefined();
    expect(retellEvent(dataEvent, { state: undefined, dataSets: [] }, source)).toBeUndefined();
  });
});

describe("what a record tells beside the events that are stored", () => {
  const told = judged([eventOf("account.connected"), eventOf("account.disconnected")]);

  it("is the provider's answer, where that was the latest", () => {
    const answered = settle(told, told.version, { found: true, connected: false }, { at });
    if (answered === undefined) throw new Error("nothing was settled");
    expect(retellRecord({ of: "state", before: undefined, after: answered }, source)).toMatchObject([
      { message: { type: "account.confirmed" }, moment: at.toISOString() },
    ]);
    expect(retellRecord({ of: "state", before: undefined, after: told }, source)).toEqual([]);
  });

  it("is what its data is, where there is any", () => {
    const data = (content: string | undefined) =>
      retellRecord({ of: "data", before: undefined, after: fetchedData(content) }, source);
    expect(data("digest")).toMatchObject([
      { message: { type: "data.updated", data: { content: "digest" } }, moment: at.toISOString() },
    ]);
    expect(data(undefined)).toEqual([]);
    expect(retellRecord({ of: "data", before: undefined, after: wantedData() }, source)).toEqual([]);
  });

  it("names the event that it tells of, if it tells of one", () => {
    const event = eventOf("account.disconnected");
    expect(latestEventOf({ of: "state", before: undefined, after: told })).toEqual(event);
    expect(latestEventOf({ of: "data", before: undefined, after: fetchedData("digest") })).toBeUndefined();
  });
});

describe("a selection", () => {
  const message = { type: "account.connected", moment: minute(10) };

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
