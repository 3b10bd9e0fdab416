import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  type DocumentRecord,
  fetched,
  isFetchedBefore,
  parseDocumentRecord,
  requestedOf,
  requestFetch,
  requestFetchFor,
} from "../../../domain/fetch/document.ts";
import { account, at, eventOf } from "../samples.ts";

const endpoint = "income";
const updated = eventOf("endpoint.updated", { endpoint, dataAvailable: true });
const other = eventOf("endpoint.updated", { endpoint, dataAvailable: true, dateEnd: "2026-02-01" });
const empty = eventOf("endpoint.updated", { endpoint, dataAvailable: false });
const take = (known: DocumentRecord | undefined, event: IncomeEvent, receipts = 1) =>
  requestFetch(known, account, { endpoint }, { event, receipts });

function taken(...events: IncomeEvent[]): DocumentRecord {
  const known = events.reduce<DocumentRecord | undefined>(
    (before, event) => take(before, event) ?? before,
    undefined,
  );
  if (known === undefined) throw new Error("nothing was wanted");
  return known;
}

describe("an endpoint event", () => {
  it("wants the data once more", () => {
    expect(taken(updated)).toMatchObject({
      subject: account,
      endpoint,
      version: 1,
      wanted: 1,
      done: 0,
      latest: { cause: "event", outcome: "applied" },
    });
    expect(taken(updated, other)).toMatchObject({ version: 2, wanted: 2, done: 0 });
  });

  it("wants the data where it does not say whether there is any", () => {
    expect(taken(eventOf("endpoint.updated", { endpoint })).wanted).toBe(1);
  });

  it("wants nothing where no data is available yet, but is known", () => {
    expect(taken(empty)).toMatchObject({ version: 1, wanted: 0, latest: { cause: "event" } });
    expect(take(taken(empty), empty, 2)).toBeUndefined();
  });

  it("changes nothing where the same receipt comes again", () => {
    const known = taken(updated, other);
    expect(take(known, updated, 1)).toBeUndefined();
    expect(take(known, other, 1)).toBeUndefined();
  });

  it("that is unordered requests the data again when its bytes come again: it may be a true repeat", () => {
    const again = take(taken(updated), updated, 2);
    expect(again).toMatchObject({ version: 2, wanted: 2, latest: { cause: "again" } });
    expect(take(again, updated, 2)).toBeUndefined();
  });

  it("with its own time or id says nothing when its bytes come again", () => {
    for (const own of [{ time: at.toISOString() }, { eventId: "e-1" }]) {
      const event = eventOf("endpoint.updated", { endpoint, ...own });
      expect(take(taken(event), event, 2)).toBeUndefined();
    }
  });
});

describe("a reason other than an event", () => {
  it("wants the data once, with no message of its own", () => {
    const known = requestFetchFor(undefined, account, { endpoint }, { key: "start.1" });
    expect(known).toMatchObject({ version: 1, wanted: 1, latest: { cause: "again" } });
    expect(requestFetchFor(known, account, { endpoint }, { key: "start.1" })).toBeUndefined();
    expect(requestFetchFor(known, account, { endpoint }, { key: "start.2" })).toMatchObject({
      version: 2,
      wanted: 2,
    });
  });
});

describe("how often an endpoint was requested", () => {
  it("is counted over the whole and all ranges of it, and of no other endpoint", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const whole = taken(updated, other);
    const part = { ...taken(updated), range };
    expect(requestedOf([whole, part, { ...whole, endpoint: "income-tax" }], endpoint)).toBe(3);
    expect(requestedOf([], endpoint)).toBe(0);
  });
});

describe("a fetch", () => {
  it("notes what it has fetched, and announces data that is new", () => {
    expect(fetched(taken(updated, other), 1, "digest", { at })).toMatchObject({
      version: 3,
      wanted: 2,
      done: 1,
      content: "digest",
      latest: { cause: "answer", at: at.toISOString() },
    });
  });

  it("announces nothing where the data is the same, but counts as fetched", () => {
    const known = fetched(taken(updated, other), 1, "digest", { at });
    expect(known && fetched(known, 2, "digest", { at })).toMatchObject({
      done: 2,
      latest: { cause: "again" },
    });
  });

  it("forgets the data where the provider has none any more, and announces that", () => {
    const known = fetched(taken(updated, other), 1, "digest", { at });
    const gone = known && fetched(known, 2, undefined, { at });
    expect(gone).toMatchObject({ done: 2, latest: { cause: "answer" } });
    expect(gone).not.toHaveProperty("content");
    expect(fetched(taken(updated), 1, undefined, { at })?.latest).toEqual({ cause: "again" });
  });

  it("is void where a later one, or its double, was faster", () => {
    const known = fetched(taken(updated, other), 2, "new", { at });
    expect(known && fetched(known, 1, "old", { at })).toBeUndefined();
    expect(known && fetched(known, 2, "double", { at })).toBeUndefined();
  });
});

describe("a stored document", () => {
  it("is read as it was written", () => {
    for (const known of [
      taken(updated),
      fetched(taken(updated, other), 2, "d", { at }),
      take(taken(updated), updated, 2),
    ]) {
      expect(parseDocumentRecord(JSON.parse(JSON.stringify(known)))).toEqual(known);
    }
  });

  it("is refused by the name of the field that is wrong", () => {
    const stored = taken(updated);
    for (const field of ["subject", "endpoint", "version", "wanted", "done", "judged", "latest"]) {
      expect(() => parseDocumentRecord({ ...stored, [field]: null }), field).toThrow(
        new RegExp(`^${field}: expected`),
      );
    }
  });
});

describe("data that is to be read again because it is old", () => {
  const at = (fetchedAt: string | undefined, done: number): DocumentRecord => ({
    ...taken(updated),
    done,
    ...(fetchedAt === undefined ? {} : { fetchedAt }),
  });
  const timestamp = "2026-03-01T12:00:00.000Z";

  it("was fetched before a moment, or before it was noted when", () => {
    expect(isFetchedBefore(at("2026-03-01T11:59:59.999Z", 1), timestamp)).toBe(true);
    expect(isFetchedBefore(at(undefined, 1), timestamp)).toBe(true);
    expect(isFetchedBefore(at(timestamp, 1), timestamp)).toBe(false);
  });

  it("is none that was never fetched: its own task is still to come", () => {
    expect(isFetchedBefore(at(undefined, 0), timestamp)).toBe(false);
    expect(isFetchedBefore(at("2026-03-01T11:59:59.999Z", 0), timestamp)).toBe(false);
  });
});
