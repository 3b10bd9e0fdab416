import { describe, expect, it } from "vitest";
import { fetched, requestFetch } from "../../../domain/fetch/document.ts";
import { isSelected, latestEventOf, replayEvent, replayRecord } from "../../../domain/state/replay.ts";
import { applyProviderAnswer } from "../../../domain/state/state.ts";
import { account, accountId, applied, at, eventOf, minute } from "../samples.ts";

const source = "urn:test";
const events = (count: number) =>
  Array.from({ length: count }, (_, index) => eventOf("account.updated", { time: minute(index) }));

const dataEvent = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
const name = { endpoint: "income" };

function wantedData() {
  const document = requestFetch(undefined, account, name, { event: dataEvent, receipts: 1 });
  if (document === undefined) throw new Error("nothing was wanted");
  return document;
}

function fetchedData(content: string | undefined) {
  const document = fetched(wantedData(), 1, content, { at });
  if (document === undefined) throw new Error("nothing was fetched");
  return document;
}

describe("an event's message in a replay", () => {
  it("is still to come where its subject is known and has not processed it", () => {
    const state = applied(events(3));
    const late = eventOf("account.connected", { time: minute(9) });
    expect(replayEvent(late, { state, documents: [] }, source)).toBeUndefined();
    expect(replayEvent(late, { state: undefined, documents: [] }, source)).toBeUndefined();
  });

  it("is sent where its subject has processed so many since that it was forgotten", () => {
    const [first, ...others] = events(30);
    if (first === undefined) throw new Error("there is no event");
    const state = applied([first, ...others]);
    expect(replayEvent(first, { state, documents: [] }, source)).toMatchObject({
      message: { id: first.id },
      timestamp: first.receivedAt,
    });
  });

  it("of data is sent by its document, and is still to come where that has not counted it", () => {
    const records = { state: undefined, documents: [wantedData()] };
    expect(replayEvent(dataEvent, records, source)).toMatchObject({
      message: { id: dataEvent.id, type: "endpoint.updated", subject: `account/${accountId}/income` },
      timestamp: dataEvent.receivedAt,
    });
    const another = eventOf("endpoint.updated", { endpoint: "income", eventId: "another" });
    expect(replayEvent(another, records, source)).toBeUndefined();
    expect(replayEvent(dataEvent, { state: undefined, documents: [] }, source)).toBeUndefined();
  });
});

describe("what a record announces beside the events that are stored", () => {
  const announced = applied([eventOf("account.connected"), eventOf("account.disconnected")]);

  it("is the provider's answer, where that was the latest", () => {
    const answered = applyProviderAnswer(
      announced,
      announced.version,
      { found: true, connected: false },
      { at },
    );
    if (answered === undefined) throw new Error("nothing was settled");
    expect(replayRecord({ of: "state", before: undefined, after: answered }, source)).toMatchObject([
      { message: { type: "account.confirmed" }, timestamp: at.toISOString() },
    ]);
    expect(replayRecord({ of: "state", before: undefined, after: announced }, source)).toEqual([]);
  });

  it("is what its data is, where there is any", () => {
    const data = (content: string | undefined) =>
      replayRecord({ of: "data", before: undefined, after: fetchedData(content) }, source);
    expect(data("digest")).toMatchObject([
      { message: { type: "data.updated", data: { content: "digest" } }, timestamp: at.toISOString() },
    ]);
    expect(data(undefined)).toEqual([]);
    expect(replayRecord({ of: "data", before: undefined, after: wantedData() }, source)).toEqual([]);
  });

  it("names the event that it announces, if it announces one", () => {
    const event = eventOf("account.disconnected");
    expect(latestEventOf({ of: "state", before: undefined, after: announced })).toEqual(event);
    expect(latestEventOf({ of: "data", before: undefined, after: fetchedData("digest") })).toBeUndefined();
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
