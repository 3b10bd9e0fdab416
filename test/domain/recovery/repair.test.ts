import { describe, expect, it } from "vitest";
import { fetched, requestFetch } from "../../../domain/fetch/document.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import {
  needsRepair,
  repairsOfDocument,
  repairsOfEvent,
  repairsOfState,
} from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyProviderAnswer } from "../../../domain/state/state.ts";
import { account, applied, at, eventChange, eventOf, minute, userId } from "../samples.ts";

const period = { since: minute(10), until: minute(20) };
const eventAt = (time: number) => ({ ...eventOf("account.connected"), receivedAt: minute(time) });

describe("what a repair of a period is about", () => {
  it.each([
    [9, false],
    [10, true],
    [19, true],
    [20, false],
  ])("an event that was received in minute %i: %s", (time, isWanted) => {
    const event = { ...eventAt(time), time: minute(time) };
    expect(needsRepair(eventChange(event, 3), period)).toBe(isWanted);
    const state = applied([event]);
    expect(needsRepair({ of: "state", before: undefined, after: state }, period)).toBe(isWanted);
  });

  it("an event of any time whose bytes came again and can be a true repeat, and of it that repeat alone", () => {
    const event = eventAt(1);
    const stored = eventChange(event, 2, 0);
    const repeat = eventChange(event, 2);
    expect(needsRepair(stored, period)).toBe(true);
    expect(needsRepair(eventChange(event), period)).toBe(false);
    expect(repairsOfEvent(stored, undefined, period)).toEqual([repeat]);
    expect(repairsOfEvent(stored, undefined, {})).toEqual([eventChange(event), repeat]);
  });

  it("a state of any time that waits for an answer, and a document of which more is requested than fetched", () => {
    const state = applied([{ ...eventAt(1), time: minute(1) }]);
    expect(
      needsRepair({ of: "state", before: undefined, after: { ...state, unconfirmed: true } }, period),
    ).toBe(true);
    const event = { ...eventOf("endpoint.updated", { endpoint: "income" }), receivedAt: minute(1) };
    const requested = requestFetch(undefined, account, { endpoint: "income" }, { event, receipts: 1 });
    if (requested === undefined) throw new Error("nothing was wanted");
    expect(needsRepair({ of: "data", before: undefined, after: requested }, period)).toBe(true);
    const done = fetched(requested, 1, "content", { at });
    if (done === undefined) throw new Error("nothing was fetched");
    expect(needsRepair({ of: "data", before: undefined, after: done }, period)).toBe(false);
    const fetchedAt = minute(15);
    expect(needsRepair({ of: "data", before: undefined, after: { ...done, fetchedAt } }, period)).toBe(true);
  });
});

/** What follows where changes are relayed, in words: `call start`, `publish account.connected`. */
function followsOf(changes: readonly Change[]): readonly string[] {
  return changes
    .flatMap((change) => consequencesOf(change, "urn:test"))
    .map((consequence) => {
      switch (consequence.do) {
        case "call":
          return `call ${consequence.task.task}`;
        case "publish":
          return `publish ${consequence.message.type} ${consequence.message.sequence.slice(-1)}`;
        default:
          return consequence.do;
      }
    });
}

describe("a repair of a state", () => {
  const connected = applied([eventOf("account.connected", { userId })]);

  it("links its account, and starts the fetch of one that is connected, but announces no event", () => {
    expect(followsOf(repairsOfState(connected, false))).toEqual(["link", "call start"]);
  });

  it("starts nothing where data was fetched since", () => {
    expect(followsOf(repairsOfState(connected, true))).toEqual(["link"]);
  });

  it("asks where an answer is awaited, and announces the answer where that came last", () => {
    const contradicted = applied([eventOf("account.connected"), eventOf("account.disconnected")]);
    expect(followsOf(repairsOfState(contradicted, true))).toEqual(["call ask"]);
    const answered = applyProviderAnswer(
      contradicted,
      contradicted.version,
      { found: true, connected: false },
      { at },
    );
    if (answered === undefined) throw new Error("nothing was settled");
    expect(followsOf(repairsOfState(answered, true))).toEqual(["publish account.confirmed 3"]);
  });
});

describe("a repair of data", () => {
  const event = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
  const requested = requestFetch(undefined, account, { endpoint: "income" }, { event, receipts: 1 });
  if (requested === undefined) throw new Error("nothing was wanted");
  const done = fetched(requested, 1, "digest", { at });
  if (done === undefined) throw new Error("nothing was fetched");

  it("reads what is requested and not fetched, and announces no event", () => {
    expect(followsOf(repairsOfDocument(requested))).toEqual(["call read"]);
  });

  it("announces data that is there, and reads nothing that is fetched", () => {
    expect(followsOf(repairsOfDocument(done))).toEqual(["publish data.updated 2"]);
  });

  it("does both where more is requested since", () => {
    const more = requestFetch(
      done,
      account,
      { endpoint: "income" },
      { event: { ...event, id: "another", eventId: "f" }, receipts: 1 },
    );
    if (more === undefined) throw new Error("nothing more was wanted");
    expect(followsOf(repairsOfDocument(more))).toEqual(["call read", "publish data.updated 3"]);
  });
});

describe("a repair of an event", () => {
  it("that its state has processed is announced again, whatever the state's last change is", () => {
    const [first, last] = [eventOf("account.connected"), eventOf("account.updated", { connected: true })];
    const state = applied([first, last]);
    for (const event of [first, last]) {
      const changes = repairsOfEvent(eventChange(event), { of: "state", state }, {});
      expect(followsOf(changes)).toEqual([`publish ${event.type} 2`]);
    }
  });

  it("that its document has counted is announced again, and requests nothing more", () => {
    const event = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
    const document = requestFetch(undefined, account, { endpoint: "income" }, { event, receipts: 1 });
    if (document === undefined) throw new Error("nothing was wanted");
    const changes = repairsOfEvent(eventChange(event), { of: "data", document }, {});
    expect(followsOf(changes)).toEqual(["publish endpoint.updated 1"]);
  });

  it("that nobody has processed is processed, as its last repeat is, where that can be a true one", () => {
    const event = eventOf("account.connected");
    const state = applied([eventOf("account.created")]);
    expect(repairsOfEvent(eventChange(event), { of: "state", state }, {})).toEqual([eventChange(event)]);
    const repeated = eventChange(event, 3);
    expect(
      repairsOfEvent(repeated, { of: "state", state: applied([event]) }, { since: minute(0) }),
    ).toContainEqual(repeated);
    const own = { ...event, eventId: "e" };
    expect(repairsOfEvent({ ...repeated, event: own }, { of: "state", state }, {})).toEqual([
      eventChange(own),
    ]);
  });
});
