import { describe, expect, it } from "vitest";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import {
  needsRepair,
  repairsOfDocument,
  repairsOfEvent,
  repairsOfState,
} from "../../../domain/recovery/repair.ts";
import { scanCost } from "../../../domain/recovery/scan-cost.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { applied, at, documentRead, eventChange, eventOf, minute, userId } from "../samples.ts";

const period = { since: minute(10), until: minute(20) };
const eventAt = (time: number) => ({ ...eventOf("account.connected"), receivedAt: minute(time) });

describe("a repair of a period includes", () => {
  it.each([
    [9, false],
    [10, true],
    [19, true],
    [20, false],
  ])("an event that was received in minute %i: %s", (time, isWanted) => {
    const event = { ...eventAt(time), time: minute(time) };
    expect(needsRepair(eventChange(event, 3), period)).toBe(isWanted);
    const state = applied([event]);
    expect(needsRepair({ type: "state", before: undefined, after: state }, period)).toBe(isWanted);
  });

  it("only the repeat of an earlier event whose bytes were received again and can be a true repeat", () => {
    const event = eventAt(1);
    const stored = eventChange(event, 2, 0);
    const repeat = eventChange(event, 2);
    expect(needsRepair(stored, period)).toBe(true);
    expect(needsRepair(eventChange(event), period)).toBe(false);
    expect(repairsOfEvent(stored, undefined, period)).toEqual([repeat]);
  });

  it("a state from any time that waits for an answer", () => {
    const state = applied([{ ...eventAt(1), time: minute(1) }]);
    const waiting = { ...state, unconfirmed: true };
    expect(needsRepair({ type: "state", before: undefined, after: waiting }, period)).toBe(true);
  });

  it("no state whose last change announces nothing, however long the period", () => {
    const after: State = { ...applied([eventAt(1)]), latest: { cause: "again" } };
    expect(needsRepair({ type: "state", before: undefined, after }, {})).toBe(false);
  });

  it.each([
    [9, false],
    [10, true],
    [19, true],
    [20, false],
  ])("a document that changed in minute %i, whenever it was read later: %s", (time, isWanted) => {
    const changed = documentRead(undefined, "digest", { asOf: Date.parse(minute(time)) });
    const after = documentRead(changed, "digest", { asOf: Date.parse(minute(30)) });
    expect(needsRepair({ type: "document", before: undefined, after }, period)).toBe(isWanted);
  });

  it("no document that the provider never had", () => {
    const after = documentRead(undefined, undefined, { asOf: Date.parse(minute(15)) });
    expect(needsRepair({ type: "document", before: undefined, after }, period)).toBe(false);
  });
});

/** Effects of relayed changes: `call startFetch`, `publish account.connected`. */
function followsOf(changes: readonly Change[]): readonly string[] {
  return changes
    .flatMap((change) =>
      consequencesOf(change, { source: "urn:test", readByRange: [], documentsUrl: "https://reads.example/" }),
    )
    .map((consequence) => {
      switch (consequence.type) {
        case "call":
          return `call ${consequence.task.type}`;
        case "publish":
          return `publish ${consequence.message.type} ${consequence.message.sequence.slice(-1)}`;
        default:
          return consequence.type;
      }
    });
}

describe("a repair of a state", () => {
  const connected = applied([eventOf("account.connected", { userId })]);

  it("links its account, and starts the fetch of one that is connected, but announces no event", () => {
    expect(followsOf(repairsOfState(connected, false))).toEqual(["link", "call startFetch"]);
  });

  it("starts nothing if data was fetched since", () => {
    expect(followsOf(repairsOfState(connected, true))).toEqual(["link"]);
  });

  it("asks the provider if an answer is awaited, and announces the answer if it was the last change", () => {
    const conflicting = applied([eventOf("account.connected"), eventOf("account.disconnected")]);
    expect(followsOf(repairsOfState(conflicting, true))).toEqual(["call fetchState"]);
    const answered = applyProviderAnswer(
      conflicting,
      conflicting.version,
      { found: true, connected: false },
      { at },
    );
    if (answered === undefined) throw new Error("no answer was applied");
    expect(followsOf(repairsOfState(answered, true))).toEqual(["publish account.confirmed 3"]);
  });
});

describe("a repair of a document", () => {
  it("announces the stored data as it was first announced, and reads nothing", () => {
    const changed = documentRead(undefined, "digest", { asOf: 2 });
    const later = documentRead(changed, "digest", { asOf: 7 });
    expect(followsOf(repairsOfDocument(later))).toEqual(["publish data.updated 2"]);
  });

  it("announces nothing if the provider never had data", () => {
    expect(followsOf(repairsOfDocument(documentRead(undefined, undefined, { asOf: 2 })))).toEqual([]);
  });
});

describe("a repair of an event", () => {
  it("that its state has processed announces it again, whatever the state's last change is", () => {
    const [first, last] = [eventOf("account.connected"), eventOf("account.updated", { connected: true })];
    const state = applied([first, last]);
    for (const event of [first, last]) {
      const changes = repairsOfEvent(eventChange(event), state, {});
      expect(followsOf(changes)).toEqual([`publish ${event.type} 2`]);
    }
  });

  it("of an endpoint reads its document and announces the event again", () => {
    const event = eventOf("endpoint.updated", { endpoint: "income", eventId: "e" });
    const changes = repairsOfEvent(eventChange(event), undefined, {});
    expect(followsOf(changes)).toEqual(["call fetchDocument", "publish endpoint.updated 1"]);
  });

  it("of an endpoint that was received before the period, and again in it, only reads its document", () => {
    const event = { ...eventOf("endpoint.updated", { endpoint: "income" }), receivedAt: minute(1) };
    const changes = repairsOfEvent(eventChange(event, 2, 0), undefined, period);
    expect(followsOf(changes)).toEqual(["call fetchDocument"]);
  });

  it("that was never processed processes it, with its last repeat if that can be a true one", () => {
    const event = eventOf("account.connected");
    const state = applied([eventOf("account.created")]);
    expect(repairsOfEvent(eventChange(event), state, {})).toEqual([eventChange(event)]);
    const repeated = eventChange(event, 3);
    expect(repairsOfEvent(repeated, state, {})).toEqual([eventChange(event, 3, 0)]);
    expect(followsOf([eventChange(event, 3, 0)])).toEqual(["applyEvent", "applyEvent"]);
    const own = { ...event, eventId: "e" };
    expect(repairsOfEvent(eventChange(own), state, {})).toEqual([eventChange(own)]);
  });

  it("of which only the first receipt was processed processes its last repeat", () => {
    const event = eventOf("account.connected");
    const repeated = eventChange(event, 3);
    expect(repairsOfEvent(repeated, applied([event]), { since: minute(0) })).toContainEqual(repeated);
  });
});

it("a scan costs half a read unit per 4 KB, rounded up, at the price of on-demand reads", () => {
  expect(scanCost({ items: 3, bytes: 8_193 })).toEqual({
    items: 3,
    bytes: 8_193,
    readUnits: 2,
    dollars: 2.5e-7,
  });
  expect(scanCost({ items: 0, bytes: 0 })).toMatchObject({ readUnits: 0, dollars: 0 });
});
