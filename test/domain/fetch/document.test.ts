import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Document,
  documentAfter,
  expiryOf,
  isReadSince,
  isTooNewToBeCovered,
  nameOfData,
  parseDataName,
  parseDocument,
  parseReadInPages,
  parseStorage,
  parseSuperseded,
  rangeOf,
} from "../../../domain/fetch/document.ts";
import { documentTask } from "../../../domain/fetch/task.ts";
import { account, documentRead, userId } from "../samples.ts";

const range = { start: "2026-01-01", end: "2026-01-31" };

describe("a document after a call", () => {
  it("records the data read, as of when, for which messages and for whom", () => {
    const task = documentTask(account, { endpoint: "income" }, 5, {
      cause: "e.1",
      correlationId: "e",
      userId,
    });
    const found = { digest: "d", size: 7 };
    expect(documentAfter(undefined, { asOf: 10, by: ["m"], task }, found)).toEqual({
      subject: account,
      endpoint: "income",
      asOf: 10,
      by: ["m"],
      userId,
      digest: "d",
      size: 7,
      announced: 10,
      news: true,
      correlationId: "e",
    });
  });

  it("keeps its content type unless it is that of plain JSON, and the days that it covers", () => {
    const task = documentTask(account, { endpoint: "income" }, 5, { cause: "e.1" });
    const readAs = (contentType?: string) =>
      documentAfter(
        undefined,
        { asOf: 10, by: [], task },
        { digest: "d", size: 7, ...(contentType && { contentType }) },
        31,
      );
    expect(readAs("text/plain")).toMatchObject({ contentType: "text/plain", days: 31 });
    for (const plain of [undefined, "application/json"])
      expect(readAs(plain)).not.toHaveProperty("contentType");
  });

  it.each([
    [undefined, undefined, undefined],
    [3, undefined, 3],
    [undefined, 3, 3],
    [3, 7, 7],
    [7, 3, 7],
  ])("was read for the latest event of its calls: %s after %s is %s", (readFor, stored, latest) => {
    const task = documentTask(account, { endpoint: "income" }, 5, { cause: "e.1" });
    const call = { asOf: 10, by: [], task };
    const before = documentAfter(undefined, { ...call, readFor: stored }, undefined);
    expect(documentAfter(before, { ...call, readFor }, undefined).readFor).toBe(latest);
  });

  it("keeps the range of dates that it is of", () => {
    const document = documentRead(undefined, "d", { asOf: 1, name: { endpoint: "income", range } });
    expect(document).toMatchObject({ endpoint: "income", range });
  });

  it("names what led to the call that changed the data, not to those that found it unchanged", () => {
    const first = documentRead(undefined, "d", { asOf: 10, correlationId: "one" });
    const same = documentRead(first, "d", { asOf: 20, correlationId: "two", by: ["m2"] });
    expect(same).toMatchObject({ correlationId: "one", announced: 10, asOf: 20, by: ["m2"], news: false });
    const other = documentRead(same, "e", { asOf: 30, correlationId: "three" });
    expect(other).toMatchObject({ correlationId: "three", announced: 30, news: true });
  });

  it("keeps its user if a later task does not name one", () => {
    const first = documentRead(undefined, "d", { asOf: 10, userId });
    expect(documentRead(first, "e", { asOf: 20 })).toMatchObject({ userId });
  });

  it("has no digest and size if the provider has no data, and is news if it had some before", () => {
    const none = documentRead(undefined, undefined, { asOf: 10, by: ["m"] });
    expect(none).toEqual({ subject: account, endpoint: "income", asOf: 10, by: ["m"], news: false });
    const gone = documentRead(documentRead(none, "d", { asOf: 20 }), undefined, { asOf: 30 });
    expect(gone).toMatchObject({ announced: 30, news: true });
    expect(gone).not.toHaveProperty("digest");
    expect(gone).not.toHaveProperty("size");
  });
});

it("a document is announced after earlier announcements, even if its asOf decreased", () => {
  const first = documentRead(undefined, "a", { asOf: 10 });
  expect(documentRead(first, "b", { asOf: 5 })).toMatchObject({ asOf: 5, announced: 11 });
});

it("a document is news again if the provider returns to earlier data", () => {
  const gone = documentRead(documentRead(undefined, "a", { asOf: 10 }), undefined, { asOf: 20 });
  expect(documentRead(gone, "a", { asOf: 30 })).toMatchObject({ announced: 30, news: true });
});

describe("a stored document", () => {
  const calls = fc.array(
    fc.record({
      digest: fc.option(fc.constantFrom("one", "two"), { nil: undefined }),
      by: fc.array(fc.string(), { maxLength: 3 }),
      userId: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      correlationId: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      isRanged: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  );

  it("is read as it was written", () => {
    fc.assert(
      fc.property(calls, (list) => {
        let known: Document | undefined;
        for (const [index, { digest, isRanged, userId: user, ...call }] of list.entries()) {
          const name = { endpoint: "income", ...(isRanged ? { range } : {}) };
          known = documentRead(known, digest, {
            asOf: index,
            by: call.by,
            name,
            ...(user === undefined ? {} : { userId: user }),
            ...(call.correlationId === undefined ? {} : { correlationId: call.correlationId }),
          });
          expect(parseDocument(JSON.parse(JSON.stringify(known)))).toEqual(known);
        }
      }),
    );
  });

  it("is refused by the name of the invalid field", () => {
    const stored = documentRead(undefined, "d", { asOf: 1 });
    for (const field of ["subject", "endpoint", "asOf", "by", "announced"]) {
      expect(() => parseDocument({ ...stored, [field]: null }), field).toThrow(
        new RegExp(`^${field}: expected`),
      );
    }
    expect(() => parseDocument([])).toThrow("document: expected an object");
  });
});

describe("a range of dates", () => {
  it.each([
    ["2026-01-01", "2026-01-31"],
    ["2026-01-01 00:00:00 UTC", "2026-01-31 23:59:59.999 UTC"],
    ["2026-01-01T00:00:00Z", "2026-01-31T23:59:59+02:00"],
  ])("is taken from an event: %s to %s", (dateStart, dateEnd) => {
    expect(rangeOf({ dateStart, dateEnd })).toEqual({ start: dateStart, end: dateEnd });
  });

  it.each([
    ["2026-01-01", undefined],
    [undefined, "2026-01-31"],
    ["last week", "2026-01-31"],
    ["2026-01-01", "20260131"],
    ["2026-01-01#2026-01-02", "2026-01-31"],
    ["2026-01-01", "../2026-01-31"],
  ])("is undefined if a date is missing or in an unknown format: %s to %s", (dateStart, dateEnd) => {
    const dates = { ...(dateStart && { dateStart }), ...(dateEnd && { dateEnd }) };
    expect(rangeOf(dates)).toBeUndefined();
  });
});

describe("the name of data", () => {
  it("is its endpoint, and its range if it has one", () => {
    expect(nameOfData({ endpoint: "income" }, "#")).toBe("income");
    expect(nameOfData({ endpoint: "income", range }, "#")).toBe("income#2026-01-01..2026-01-31");
    expect(nameOfData({ endpoint: "income", range }, "/")).toBe("income/2026-01-01..2026-01-31");
  });

  it("is parsed as it was written, and refused by the invalid field", () => {
    for (const name of [{ endpoint: "income" }, { endpoint: "income", range }]) {
      expect(parseDataName({ ...name, version: 1 })).toEqual(name);
    }
    expect(() => parseDataName({ range })).toThrow("endpoint: expected a text");
    expect(() => parseDataName({ endpoint: "income", range: { start: "x" } })).toThrow(
      "end: expected a text",
    );
  });
});

describe("the place of a document's data", () => {
  it.each([
    {},
    { codec: "gzip", content: new Uint8Array([1]) },
    { codec: "identity", object: "documents/a", objectDigest: "ab" },
  ])("is read as it was stored: %o", (storage) => {
    expect(parseStorage({ ...storage, asOf: 1 })).toEqual(storage);
  });

  it("has no content that is not bytes, and no unknown encoding", () => {
    expect(parseStorage({ content: "text" })).toEqual({});
    expect(() => parseStorage({ codec: "zstd" })).toThrow("document.codec: expected gzip or identity");
  });

  it("of a superseded version names its document, and is refused by the invalid field", () => {
    const stored = { subject: account, endpoint: "income", range, announced: 7, object: "documents/a" };
    const superseded = { subject: account, name: { endpoint: "income", range }, announced: 7 };
    expect(parseSuperseded(stored)).toEqual({ ...superseded, object: "documents/a" });
    for (const field of ["subject", "endpoint", "announced", "object"])
      expect(() => parseSuperseded({ ...stored, [field]: undefined })).toThrow(`${field}: expected`);
    expect(() => parseSuperseded(7)).toThrow("document: expected an object");
  });
});

it("a read in pages is read as it was stored, and refused by the invalid field", () => {
  for (const read of [
    { asOf: 2, by: ["m"] },
    { asOf: 2, by: [], known: 1 },
  ])
    expect(parseReadInPages(JSON.parse(JSON.stringify(read)))).toEqual(read);
  for (const [field, value] of Object.entries({ asOf: "2", by: "m", known: "1" }))
    expect(() => parseReadInPages({ asOf: 2, by: [], [field]: value })).toThrow(`${field}: expected`);
  expect(() => parseReadInPages(undefined)).toThrow("read: expected an object");
});

it("a superseded version expires whole days after it was superseded, in seconds, never earlier", () => {
  expect(expiryOf(1_000, 1)).toBe(86_401);
  expect(expiryOf(1_001, 30)).toBe(2_592_002);
});

describe("a document and an event that was sent at 10 s", () => {
  it.each<[string, number, number | undefined, boolean]>([
    ["read two seconds later", 12_000, undefined, true],
    ["read less than two seconds later", 11_999, undefined, false],
    ["read in the future", 62_001, undefined, false],
    ["read at the end of the clocks' tolerance", 62_000, undefined, true],
    ["read for this event", 10_000, 10_000, true],
    ["read for a later event, by a clock that was wrong", 99_000, 10_001, true],
    ["read for an earlier event", 11_999, 9_999, false],
  ])("%s: the document was read since or not", (_, asOf, readFor, isSince) => {
    expect(isReadSince({ asOf, readFor }, 10_000, 60_000)).toBe(isSince);
  });

  it.each([
    [10_999, true],
    [11_000, false],
  ])("first received at %i ms: nothing stored can cover it: %s", (firstReceivedAt, isTooNew) => {
    expect(isTooNewToBeCovered({ since: 10_000, firstReceivedAt })).toBe(isTooNew);
  });
});
